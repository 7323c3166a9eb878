import { describe, expect, it } from 'vitest';
import { isCrossSiteWrite } from './cross-site.ts';

const PUBLIC = 'https://flow.example';

type Headers = Readonly<Record<string, string>>;

function isRefused(method: string, headers: Headers): boolean {
  return isCrossSiteWrite({ method, headers, rawHeaders: [], transport: 'http' }, PUBLIC);
}

describe('isCrossSiteWrite', () => {
  it.each([
    ['POST', { 'sec-fetch-site': 'cross-site' }, 'another site'],
    ['POST', { 'sec-fetch-site': 'same-site' }, 'a sibling domain'],
    ['POST', { 'sec-fetch-site': 'cross-site', origin: PUBLIC }, 'one of two signs is enough'],
    [
      'POST',
      { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
      'one of two signs is enough',
    ],
    ['POST', { 'sec-fetch-site': '' }, 'an undefined value'],
    ['POST', { 'sec-fetch-site': 'Same-Origin' }, 'an undefined value'],
    ['POST', { origin: 'https://evil.example' }, 'another origin'],
    ['POST', { origin: 'null' }, 'an opaque origin'],
    ['POST', { origin: 'http://flow.example' }, 'another scheme'],
    ['POST', { origin: 'https://flow.example:8443' }, 'another port'],
    ['POST', { origin: 'https://flow.example.evil.example' }, 'a look-alike'],
    ['POST', { origin: 'https://flow.example/' }, 'not an origin’s spelling'],
    ['POST', { origin: '' }, 'an empty origin'],
    ['PUT', { origin: 'https://evil.example' }, 'any unsafe method'],
    ['PATCH', { origin: 'https://evil.example' }, 'any unsafe method'],
    ['DELETE', { origin: 'https://evil.example' }, 'any unsafe method'],
    ['CONNECT', { origin: 'https://evil.example' }, 'any unsafe method'],
    ['PURGE', { origin: 'https://evil.example' }, 'an unknown method'],
    ['get', { origin: 'https://evil.example' }, 'methods are case-sensitive'],
    ['', { origin: 'https://evil.example' }, 'no method'],
    ['GET', { upgrade: 'websocket', origin: 'https://evil.example' }, 'a WebSocket'],
    ['GET', { upgrade: 'websocket', 'sec-fetch-site': 'cross-site' }, 'a WebSocket'],
    [
      'GET',
      { 'sec-websocket-key': 'x', origin: 'https://evil.example' },
      'a WebSocket whose Upgrade a proxy took off',
    ],
    ['GET', { upgrade: 'h2c', origin: 'https://evil.example' }, 'any upgrade'],
  ] as readonly (readonly [string, Headers, string])[])(
    'refuses %s with %j (%s)',
    (method, headers) => {
      expect(isRefused(method, headers)).toBe(true);
    },
  );

  it.each([
    ['POST', { 'sec-fetch-site': 'same-origin', origin: PUBLIC }, 'a page of ours'],
    ['POST', { 'sec-fetch-site': 'same-origin' }, 'a page of ours'],
    ['POST', { 'sec-fetch-site': 'none' }, 'the person alone'],
    ['POST', { origin: PUBLIC }, 'a page of ours in an older browser'],
    ['POST', {}, 'no browser'],
    ['DELETE', { origin: PUBLIC }, 'a page of ours'],
    ['GET', { upgrade: 'websocket', origin: PUBLIC }, 'a WebSocket of ours'],
    ['GET', { upgrade: 'websocket' }, 'a WebSocket of no browser'],
    ['GET', { 'sec-fetch-site': 'cross-site' }, 'a link'],
    ['GET', { origin: 'https://evil.example' }, 'a read'],
    ['HEAD', { 'sec-fetch-site': 'cross-site' }, 'a read'],
    ['OPTIONS', { origin: 'https://evil.example' }, 'a preflight'],
    ['TRACE', { origin: 'https://evil.example' }, 'a safe method'],
  ] as readonly (readonly [string, Headers, string])[])(
    'lets %s with %j through (%s)',
    (method, headers) => {
      expect(isRefused(method, headers)).toBe(false);
    },
  );
});
