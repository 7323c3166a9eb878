import { describe, expect, it } from 'vitest';
import { createIdpSpec } from '../spec/idp-spec.ts';
import { createOutgoingFetch } from './outgoing-fetch.ts';

const KEYS = 'http://127.0.0.1:1/auth/jwks';
const LOGOUT = 'http://127.0.0.1:2/auth/backchannel-logout';
const { web, native } = createIdpSpec(
  'http://127.0.0.1:2',
  { web: 'w', native: 'n', service: 's' },
  { webJwksUri: KEYS },
);

describe('createOutgoingFetch', () => {
  it.each([
    ['GET', KEYS, true],
    ['POST', LOGOUT, true],
    ['POST', KEYS, false],
    ['GET', LOGOUT, false],
    ['PUT', LOGOUT, false],
    ['GET', `${KEYS}/`, false],
    ['POST', `${LOGOUT}?x`, false],
    ['POST', 'http://127.0.0.1:1/auth/backchannel-logout', false],
    ['GET', 'http://169.254.169.254/latest', false],
    ['GET', 'undefined', false],
  ])('%s %s is admitted: %s', async (method, url, admitted) => {
    const asked: string[] = [];
    const send = createOutgoingFetch([web, native], async (input, init) => {
      asked.push(`${init?.method} ${new Request(input).url} ${init?.redirect}`);
      return new Response(null);
    });
    const sent = send(url, { method });
    if (admitted) expect((await sent).status).toBe(200);
    else await expect(sent).rejects.toThrow('makes no such request');
    expect(asked).toEqual(admitted ? [`${method} ${url} error`] : []);
  });
});
