import {
  createSigningKey,
  forgeToken,
  HONEST_CLAIMS,
  ISSUER,
  IssuersInMemory,
} from '@sallyport/testing/idp/forge';
import { BEARER_SETTINGS } from '@sallyport/testing/server/bearer';
import { toRequest } from '@sallyport/testing/server/check';
import { OPEN_RULES } from '@sallyport/testing/server/people';
import { Clock } from '@sallyport/testing/time/clock';
import { ClockTimers, settled } from '@sallyport/testing/time/clock-timers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBearerCheck } from '../verdict.ts';

const KEY = createSigningKey('ES256', 'ec');
const TOKEN = forgeToken(KEY, HONEST_CLAIMS);

async function setup(onlyConfiguredHeader = false) {
  const clock = new Clock();
  const timers = new ClockTimers(clock);
  const issuers = new IssuersInMemory({ [ISSUER]: [KEY.jwk] });
  const { check, close } = createBearerCheck({
    settings: BEARER_SETTINGS,
    headers: {
      httpAuthorizationHeader: 'core-authorization',
      grpcAuthorizationHeader: 'grpc-token',
      onlyConfiguredHeader,
    },
    access: () => OPEN_RULES,
    claimHeaders: [],
    fetch: issuers.fetch,
    now: clock.now,
    schedule: timers.schedule,
    onRefused: () => {},
    onKeysLoaded: () => {},
    onFailure: () => {},
    onOutage: () => {},
  });
  onTestFinished(close);
  await settled();
  return { check, timers };
}

describe('a check of bearer tokens alone', () => {
  it('admits by a token, from memory the second time', async () => {
    const { check } = await setup();
    const request = toRequest({ 'core-authorization': `Bearer ${TOKEN}` });
    const first = await check(request);
    expect(first).toMatchObject({ outcome: 'admitted', session: undefined });
    expect(check(request)).toBe(first);
  });

  it.each([
    ['http', 'core-authorization', true],
    ['http', 'authorization', true],
    ['http', 'grpc-token', false],
    ['grpc', 'grpc-token', true],
    ['grpc', 'authorization', true],
    ['grpc', 'core-authorization', false],
  ] as const)('on %s a bearer in %s counts: %s', async (transport, name, isAdmitted) => {
    const { check } = await setup();
    const verdict = await check(toRequest({ [name]: `Bearer ${TOKEN}` }, { transport }));
    expect(verdict.outcome).toBe(isAdmitted ? 'admitted' : 'refused');
  });

  it('reads no other header than the configured one when configured so', async () => {
    const { check } = await setup(true);
    expect(await check(toRequest({ authorization: `Bearer ${TOKEN}` }))).toEqual({
      outcome: 'refused',
      reason: 'no_credential',
    });
  });

  it.each([
    { cookie: '__Host-core_session=AAAAAAAB.x' },
    { cookie: `undefined=${TOKEN}` },
    { cookie: `=${TOKEN}` },
    { authorization: 'Basic YTpi' },
  ] as const)('takes %o for no credential', async (headers) => {
    const { check } = await setup();
    expect(check(toRequest(headers))).toEqual({ outcome: 'refused', reason: 'no_credential' });
  });

  it('refuses a bad token and two of them', async () => {
    const { check } = await setup();
    expect(await check(toRequest({ authorization: `Bearer ${TOKEN}x` }))).toEqual({
      outcome: 'refused',
      reason: 'bearer_not_accepted',
      token: expect.objectContaining({ problem: 'form', subject: undefined }),
    });
    const two = { authorization: `Bearer ${TOKEN}`, 'core-authorization': 'Bearer other' };
    expect(check(toRequest(two))).toMatchObject({ reason: 'ambiguous_credentials' });
  });
});
