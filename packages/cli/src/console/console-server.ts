/**
 * The protected backend of `sallyport up`: a stand-in for the platform's own console.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { IDENTITY_HEADERS, PATHS } from '@sallyport/protocol';
import { carriesConsoleKey } from './console-key.ts';
import { buildConsolePage } from './console-page.ts';
import { CONSOLE_SCRIPT } from './console-script.ts';
import { buildPlatformPage, describePlatform, PLATFORM_PATH } from './platform-page.ts';
import { PLATFORM_SCRIPT } from './platform-script.ts';
import type { PlatformView } from './platform-view.ts';

/** What {@link createConsole} needs. */
export interface ConsoleOptions {
  /** Where signing out leads. */
  readonly idpOrigin: string;
  /** The key that the gateway adds, see {@link addConsoleKey}. */
  readonly key: string;
  /** What the page of the platform shows; without it there is no such page. */
  readonly viewPlatform?: (() => PlatformView) | undefined;
}

/** Creates the listener. It trusts the identity headers of requests that carry the gateway's key, and of no other. */
export function createConsole({
  idpOrigin,
  key,
  viewPlatform,
}: ConsoleOptions): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    const path = req.url?.split('?', 1)[0] ?? '/';
    const script = SCRIPTS.get(path);
    if (script !== undefined) return sendText(res, 'text/javascript', script);
    const identity = (name: string) => {
      const value = req.headers[name];
      return typeof value === 'string' ? decode(value) : '';
    };
    const subject = identity(IDENTITY_HEADERS.subject);
    if (subject === '' || !carriesConsoleKey(req, key)) {
      answerWithoutSession(req.url, res);
      return;
    }
    if (viewPlatform !== undefined && path === PLATFORM_PATH) {
      const { headers, body } = buildPlatformPage(viewPlatform(), Date.now(), idpOrigin);
      res.writeHead(200, headers);
      res.end(req.method === 'HEAD' ? undefined : body);
      return;
    }
    if (viewPlatform !== undefined && path === `${PLATFORM_PATH}.json`) {
      const described = describePlatform(viewPlatform(), Date.now());
      return sendText(res, 'application/json', JSON.stringify(described));
    }
    const page = buildConsolePage(
      {
        name: identity(IDENTITY_HEADERS.name),
        email: identity(IDENTITY_HEADERS.email),
        subject,
        issuer: identity(IDENTITY_HEADERS.issuer),
        target: req.url ?? '/',
        hasPlatform: viewPlatform !== undefined,
      },
      idpOrigin,
    );
    res.writeHead(200, page.headers);
    res.end(req.method === 'HEAD' ? undefined : page.body);
  };
}

const SCRIPTS: ReadonlyMap<string, string> = new Map([
  ['/console.js', CONSOLE_SCRIPT],
  [`${PLATFORM_PATH}.js`, PLATFORM_SCRIPT],
]);

function sendText(res: ServerResponse, type: string, text: string): void {
  res.writeHead(200, {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  res.end(text);
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
