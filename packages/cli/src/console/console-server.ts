/**
 * The protected backend of `sallyport up`: a stand-in for the platform's own console.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { IDENTITY_HEADERS, PATHS } from '@sallyport/protocol';
import { buildConsolePage } from './console-page.ts';
import { CONSOLE_SCRIPT } from './console-script.ts';

/**
 * Creates the listener. It trusts the identity headers, because only the gateway can reach it: it
 * must not be listened for on anything but the loopback.
 *
 * @param idpOrigin - Where signing out leads.
 */
export function createConsole(
  idpOrigin: string,
): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    if (req.url === '/console.js') {
      res.writeHead(200, {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
      res.end(CONSOLE_SCRIPT);
      return;
    }
    const identity = (name: string) => {
      const value = req.headers[name];
      return typeof value === 'string' ? decode(value) : '';
    };
    const subject = identity(IDENTITY_HEADERS.subject);
    if (subject === '') {
      answerWithoutSession(req.url, res);
      return;
    }
    const page = buildConsolePage(
      {
        name: identity(IDENTITY_HEADERS.name),
        email: identity(IDENTITY_HEADERS.email),
        subject,
        issuer: identity(IDENTITY_HEADERS.issuer),
        target: req.url ?? '/',
      },
      idpOrigin,
    );
    res.writeHead(200, page.headers);
    res.end(req.method === 'HEAD' ? undefined : page.body);
  };
}

/** An open route comes here without an identity: the health check, or one that is not served. */
function answerWithoutSession(url: string | undefined, res: ServerResponse): void {
  const isHealth = url?.split('?', 1)[0] === PATHS.healthz;
  res.writeHead(isHealth ? 200 : 404, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  res.end(JSON.stringify({ status: isHealth ? 'ok' : 'not served here' }));
}

/** Identity headers carry what is not printable ASCII percent-encoded. */
function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
