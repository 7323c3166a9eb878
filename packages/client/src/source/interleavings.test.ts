import { createMemoryLock } from '@sallyport/testing/client/memory-lock';
import { RotatingIssuer } from '@sallyport/testing/client/rotating-issuer';
import { HOUR, KEY } from '@sallyport/testing/client/tokens';
import { Clock } from '@sallyport/testing/time/clock';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Grant } from '../grant.ts';
import type { TokenLock } from '../lock/token-lock.ts';
import { createMemoryTokenStore } from '../store/memory-token-store.ts';
import type { TokenSet } from '../token-set.ts';
import type { TokenSource } from '../token-source.ts';
import type { TokenStore } from '../token-store.ts';
import { createTokenSource } from './create-token-source.ts';

/** One process: how many callers it has, and whether a server refused the token they bring. */
interface Modelled {
  readonly callers: number;
  readonly isRefused: boolean;
}

const PROCESSES: fc.Arbitrary<Modelled[]> = fc.array(
  fc.record({ callers: fc.integer({ min: 1, max: 3 }), isRefused: fc.boolean() }),
  { minLength: 2, maxLength: 5 },
);

/** Runs processes whose every step outside themselves happens when the scheduler says so. */
async function run(
  scheduler: fc.Scheduler,
  processes: readonly Modelled[],
  lock: TokenLock | undefined,
): Promise<{ issuer: RotatingIssuer; tokens: readonly string[]; stored: TokenSet | undefined }> {
  const clock = new Clock();
  const issuer = new RotatingIssuer(clock.now);
  const kept = createMemoryTokenStore();
  const stale = issuer.issue();
  await kept.write(KEY, stale);
  clock.advance(HOUR);
  const later = <T>(value: T): Promise<T> => scheduler.schedule(Promise.resolve(value));
  const store: TokenStore = {
    kind: 'memory',
    read: async (key) => later(await kept.read(await later(key))),
    write: async (key, tokens) => later(await kept.write(await later(key), tokens)),
    remove: async (key) => later(await kept.remove(await later(key))),
  };
  issuer.onExchange = () => later(undefined);
  const exchange = issuer.createGrant();
  const grant: Grant = {
    ...exchange,
    refresh: async (refreshToken) => later(await exchange.refresh?.(refreshToken)) as never,
  };

  const results = processes.flatMap(({ callers, isRefused }) => {
    const source: TokenSource = createTokenSource({
      key: KEY,
      grant,
      now: clock.now,
      openStore: async () => store,
      ...(lock === undefined ? {} : { lock }),
    });
    return Array.from({ length: callers }, async () => {
      await later(undefined);
      const result = await (isRefused ? source.replace(stale) : source.get());
      return result.ok ? result.value.accessToken : result.error.error;
    });
  });
  const all = Promise.all(results);
  await scheduler.waitFor(all);
  return { issuer, tokens: await all, stored: await kept.read(KEY) };
}

describe('Whatever the order in which processes act', () => {
  it('one stale token is refreshed once, and every process gets the new one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), PROCESSES, async (scheduler, processes) => {
        const { issuer, tokens, stored } = await run(scheduler, processes, createMemoryLock());
        expect([issuer.refreshes, issuer.reuses, issuer.grants]).toEqual([1, 0, 0]);
        expect(new Set(tokens)).toEqual(new Set(['access-2']));
        expect(stored?.accessToken).toBe('access-2');
      }),
    );
  });

  it('without the lock some order uses a refresh token twice, so that the property above can fail', async () => {
    const outcome = await fc.check(
      fc.asyncProperty(fc.scheduler(), PROCESSES, async (scheduler, processes) => {
        const { issuer } = await run(scheduler, processes, undefined);
        expect(issuer.reuses).toBe(0);
      }),
      { endOnFailure: true },
    );
    expect(outcome.failed).toBe(true);
  });
});
