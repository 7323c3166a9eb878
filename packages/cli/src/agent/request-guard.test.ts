import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CAPABILITY_HEADER, type GuardReason, guardRequest, hostsOf } from './request-guard.ts';

const CAPABILITY = 'right';
let server: Server;
let port: number;
let judged: { readonly names: readonly string[]; readonly reason: GuardReason | undefined }[];

beforeEach(async () => {
  judged = [];
  server = createServer(({ rawHeaders }, response) => {
    const terms = { hosts: hostsOf('127.0.0.1', port), capability: CAPABILITY };
    const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
    judged.push({ names, reason: guardRequest(rawHeaders, terms) });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

async function send(headers: Readonly<Record<string, string>>) {
  await fetch(`http://127.0.0.1:${port}/token`, { headers });
  return judged.at(-1);
}

it('fetch of Node.js, which sends Sec-Fetch-Mode, passes with the capability', async () => {
  const seen = await send({ [CAPABILITY_HEADER]: CAPABILITY });
  expect(seen?.names).toContain('sec-fetch-mode');
  expect(seen?.reason).toBe(undefined);
});

it('fetch of Node.js is refused without the capability, and with another', async () => {
  expect((await send({}))?.reason).toBe('capability_missing');
  expect((await send({ [CAPABILITY_HEADER]: 'other' }))?.reason).toBe('capability_wrong');
});

it.each([
  ['Origin', 'null'],
  ['Sec-Fetch-Site', 'cross-site'],
  ['sec-fetch-site', 'none'],
  ['Sec-Fetch-Dest', 'empty'],
  ['Sec-Fetch-User', '?1'],
  ['Sec-Fetch-Storage-Access', 'active'],
  ['Sec-Fetch-Mode-Else', 'cors'],
])('refuses what browsers alone send: %s: %s', (name, value) => {
  const sent = ['Sec-Fetch-Mode', 'cors', CAPABILITY_HEADER, CAPABILITY, name, value];
  expect(guardRequest(sent, { capability: CAPABILITY })).toBe('from_browser');
});
