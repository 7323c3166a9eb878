import { expect, it } from 'vitest';
import { parseLoopbackRedirect } from './redirect-uri.ts';

it.each([
  ['http://localhost:53593/callback', ['127.0.0.1', '::1'], 53_593],
  ['http://127.0.0.1:53593/callback', ['127.0.0.1'], 53_593],
  ['http://[::1]:8000/', ['::1'], 8_000],
])('redirect URI %s is listened for on %j', (text, addresses, port) => {
  expect(parseLoopbackRedirect(text)).toMatchObject({ ok: true, value: { text, addresses, port } });
});

it.each([
  'https://localhost:53593/callback',
  'http://platform.example.com:53593/callback',
  'http://localhost.example.com:53593/callback',
  'http://0.0.0.0:53593/callback',
  'http://localhost/callback',
  'http://localhost:0/callback',
  'http://localhost:53593',
  'http://localhost:53593/callback?x=1',
  'http://localhost:53593/callback#x',
  'http://ada@localhost:53593/callback',
  'urn:ietf:wg:oauth:2.0:oob',
  '',
])('redirect URI "%s" is refused', (text) => {
  expect(parseLoopbackRedirect(text).ok).toBe(false);
});
