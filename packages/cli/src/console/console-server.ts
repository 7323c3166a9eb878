/**
 * The protected backend of `sallyport up`: a stand-in for the platform's own console.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { IDENTITY_HEADERS } from '@sallyport/protocol';
import { buildConsolePage, CONSOLE_SCRIPT } from './console-page.ts';

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
      });
      res.end(CONSOLE_SCRIPT);
      return;
    }
    const identity = (name: string) => {
      const value = req.headers[name];
      return typeof value === 'string' ? decode(value) : '';
    };
    const page = buildConsolePage(
      {
        name: identity(IDENTITY_HEADERS.name),
        email: identity(IDENTITY_HEADERS.email),
        subject: identity(IDENTITY_HEADERS.subject),
        issuer: identity(IDENTITY_HEADERS.issuer),
        target: req.url ?? '/',
      },
      idpOrigin,
    );
    res.writeHead(200, page.headers);
    res.end(req.method === 'HEAD' ? undefined : page.body);
  };
}

/** Identity headers carry what is not printable ASCII percent-encoded. */
function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
