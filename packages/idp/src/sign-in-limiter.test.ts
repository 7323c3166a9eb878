import { describe, expect, it } from 'vitest';
import { createSignInLimiter, FAILURE_WINDOW_MS, FAILURES_MAX } from './sign-in-limiter.ts';

const START = 1_000_000;

function setup() {
  const clock = { now: START };
  const limiter = createSignInLimiter(['ada', 'grace'], () => clock.now);
  const fail = (login: string, times: number): void => {
    for (let count = 0; count < times; count += 1) limiter.recordFailure(login);
  };
  return { clock, limiter, fail };
}

describe('createSignInLimiter', () => {
  it('admits as many failures as allowed, and one more has to wait for the window', () => {
    const { limiter, fail } = setup();
    fail('ada', FAILURES_MAX - 1);
    expect(limiter.retryAfterSeconds('ada')).toBe(0);
    fail('ada', 1);
    expect(limiter.retryAfterSeconds('ada')).toBe(FAILURE_WINDOW_MS / 1_000);
  });

  it('admits again when the oldest failure leaves the window, not a second earlier', () => {
    const { clock, limiter, fail } = setup();
    fail('ada', FAILURES_MAX);
    clock.now = START + FAILURE_WINDOW_MS - 1_000;
    expect(limiter.retryAfterSeconds('ada')).toBe(1);
    clock.now = START + FAILURE_WINDOW_MS;
    expect(limiter.retryAfterSeconds('ada')).toBe(0);
  });

  it('counts each known login by itself and all unknown ones together', () => {
    const { limiter, fail } = setup();
    fail('ada', FAILURES_MAX);
    fail('x', FAILURES_MAX - 1);
    fail('y', 1);
    expect(limiter.retryAfterSeconds('grace')).toBe(0);
    expect(limiter.retryAfterSeconds('z')).toBeGreaterThan(0);
  });

  it('forgets the failures of a login that succeeded, and only those', () => {
    const { limiter, fail } = setup();
    fail('ada', FAILURES_MAX);
    fail('grace', FAILURES_MAX);
    limiter.forget('ada');
    expect(limiter.retryAfterSeconds('ada')).toBe(0);
    expect(limiter.retryAfterSeconds('grace')).toBeGreaterThan(0);
  });
});
