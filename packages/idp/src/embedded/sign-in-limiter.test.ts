import { describe, expect, it } from 'vitest';
import {
  COUNTS_MAX,
  createSignInLimiter,
  FAILURE_WINDOW_MS,
  FAILURES_MAX,
} from './sign-in-limiter.ts';

const START = 1_000_000;
const HERE = '127.0.0.1';
const THERE = '2001:db8::1';

const at = (login: string, address = HERE) => ({ login, address });

function setup() {
  const clock = { now: START };
  const limiter = createSignInLimiter(['ada', 'grace'], () => clock.now);
  const fail = (login: string, times: number, address = HERE): void => {
    for (let count = 0; count < times; count += 1) limiter.recordFailure(at(login, address));
  };
  return { clock, limiter, fail };
}

describe('createSignInLimiter', () => {
  it('admits as many failures as allowed, and one more has to wait for the window', () => {
    const { limiter, fail } = setup();
    fail('ada', FAILURES_MAX - 1);
    expect(limiter.retryAfterSeconds(at('ada'))).toBe(0);
    fail('ada', 1);
    expect(limiter.retryAfterSeconds(at('ada'))).toBe(FAILURE_WINDOW_MS / 1_000);
  });

  it('admits again when the oldest failure leaves the window, not a second earlier', () => {
    const { clock, limiter, fail } = setup();
    fail('ada', FAILURES_MAX);
    clock.now = START + FAILURE_WINDOW_MS - 1_000;
    expect(limiter.retryAfterSeconds(at('ada'))).toBe(1);
    clock.now = START + FAILURE_WINDOW_MS;
    expect(limiter.retryAfterSeconds(at('ada'))).toBe(0);
  });

  it('counts each known login by itself and all unknown ones together', () => {
    const { limiter, fail } = setup();
    fail('ada', FAILURES_MAX);
    fail('x', FAILURES_MAX - 1);
    fail('y', 1);
    expect(limiter.retryAfterSeconds(at('grace'))).toBe(0);
    expect(limiter.retryAfterSeconds(at('z'))).toBeGreaterThan(0);
  });

  it('counts each address by itself: guessing from one locks out no person at another', () => {
    const { limiter, fail } = setup();
    fail('ada', FAILURES_MAX, THERE);
    expect(limiter.retryAfterSeconds(at('ada', THERE))).toBeGreaterThan(0);
    expect(limiter.retryAfterSeconds(at('ada', HERE))).toBe(0);
  });

  it('forgets the failures of a login that succeeded, where it did, and only those', () => {
    const { limiter, fail } = setup();
    fail('ada', FAILURES_MAX);
    fail('ada', FAILURES_MAX, THERE);
    fail('grace', FAILURES_MAX);
    limiter.forget(at('ada'));
    expect(limiter.retryAfterSeconds(at('ada'))).toBe(0);
    expect(limiter.retryAfterSeconds(at('ada', THERE))).toBeGreaterThan(0);
    expect(limiter.retryAfterSeconds(at('grace'))).toBeGreaterThan(0);
  });

  it('stays bounded: drops the count whose last failure is longest ago', () => {
    const { limiter, fail } = setup();
    fail('ada', FAILURES_MAX - 1, 'first');
    fail('ada', FAILURES_MAX, 'second');
    fail('ada', 1, 'first');
    for (let count = 2; count < COUNTS_MAX; count += 1) fail('ada', 1, `${count}`);
    expect(limiter.retryAfterSeconds(at('ada', 'second'))).toBeGreaterThan(0);
    fail('ada', 1, 'one more');
    expect(limiter.retryAfterSeconds(at('ada', 'second'))).toBe(0);
    expect(limiter.retryAfterSeconds(at('ada', 'first'))).toBeGreaterThan(0);
  });
});
