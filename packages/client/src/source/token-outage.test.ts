import { SallyportError } from '@sallyport/protocol';
import { NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it } from 'vitest';
import type { TokenRefusal } from '../grant.ts';
import { TokenOutage } from './token-outage.ts';

const unreachable = (retryAfterSeconds?: number): SallyportError =>
  new SallyportError('SP_IDP_UNREACHABLE', {
    component: 'idp',
    detail: 'https://idp.example does not answer',
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
const refusal = (error: string): TokenRefusal => ({
  error,
  description: `It is ${error}.`,
  hint: 'Look.',
});

/** Seconds until the next attempt, after each of as many failures. */
function waits(failure: unknown, count: number, random: number): readonly number[] {
  const outage = new TokenOutage(() => random);
  return Array.from({ length: count }, () => {
    outage.note(failure, NOON);
    return ((outage.retryAt ?? 0) - NOON) / 1_000;
  });
}

describe('A time without a token', () => {
  it('is tried to be ended after 1, 2, 4, 8, 16, then each 30 seconds, or up to twice as long at random', () => {
    expect(waits(unreachable(), 8, 0)).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
    expect(waits(refusal('invalid_client'), 7, 0.5)).toEqual([1.5, 3, 6, 12, 24, 45, 45]);
  });

  it('waits for Retry-After, for 5 minutes at most', () => {
    expect(waits(unreachable(20), 6, 0)).toEqual([20, 20, 20, 20, 20, 30]);
    expect(waits(unreachable(3_600), 1, 0)).toEqual([300]);
  });

  it('looks for a secret that cannot be read every 4 to 8 seconds, as no request is made', () => {
    expect(waits(refusal('client_secret_unavailable'), 5, 0)).toEqual([1, 2, 4, 4, 4]);
    expect(waits(refusal('client_secret_unavailable'), 5, 0.999)[4]).toBeLessThan(8);
  });

  it('names the first cause, and the last where it is another; a new outage begins anew', () => {
    const outage = new TokenOutage(() => 0);
    expect(outage.describe()).toBeUndefined();
    outage.note(unreachable(), NOON);
    outage.note(unreachable(), NOON + 1_000);
    const first =
      'no token was obtained since 2026-01-05T12:00:00.000Z: https://idp.example does not answer';
    expect(outage.describe()).toBe(first);
    outage.note(refusal('access_denied'), NOON + 60_000);
    expect(outage.describe()).toBe(`${first}; at 2026-01-05T12:01:00.000Z: It is access_denied`);
    outage.end();
    expect([outage.since, outage.retryAt, outage.attempts, outage.describe()]).toEqual([
      undefined,
      undefined,
      0,
      undefined,
    ]);
    outage.note(refusal('access_denied'), NOON + 90_000);
    expect(outage.fail()).toEqual({
      ok: false,
      error: {
        error: 'access_denied',
        description: 'No token was obtained since 2026-01-05T12:01:30.000Z: It is access_denied.',
        hint: 'Look.',
      },
    });
  });

  it('throws a failure as the last one was, and a fault of the program as it is', () => {
    const outage = new TokenOutage(() => 0);
    outage.note(refusal('access_denied'), NOON);
    outage.note(unreachable(7), NOON);
    expect(() => outage.fail()).toThrow(
      expect.objectContaining({ code: 'SP_IDP_UNREACHABLE', retryAfterSeconds: 7 }),
    );
    const fault = new RangeError('canary');
    outage.note(fault, NOON);
    expect(() => outage.fail()).toThrow(fault);
    expect(outage.describe()).not.toContain('canary');
  });
});
