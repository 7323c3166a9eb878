import { createSeededRandom } from '@sallyport/testing/arbitraries/seeded-random';
import { type ServiceWorld, setUpServices } from '@sallyport/testing/client/token-endpoint';
import { settled } from '@sallyport/testing/time/clock-timers';
import { describe, expect, it } from 'vitest';
import type { TokenSet } from '../token-set.ts';
import type { ServiceTokenSource } from './create-service-token-source.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A call: its token, or `undefined` if it had to wait for the endpoint. */
async function call(source: ServiceTokenSource): Promise<TokenSet | undefined> {
  const got = source.get();
  const first = await Promise.race([got, settled()]);
  if (first === undefined) return undefined;
  if (!first.ok) throw new Error(first.error.description);
  return first.value;
}

/** Makes calls at equal distances; says how many waited, and the least life of a token at a call. */
async function makeCalls(
  { clock, advance }: ServiceWorld,
  source: ServiceTokenSource,
  { count, everyMs }: { readonly count: number; readonly everyMs: number },
): Promise<{ readonly waited: number; readonly leastLifeMs: number; readonly tokens: number }> {
  let waited = 0;
  let leastLifeMs = Number.POSITIVE_INFINITY;
  const tokens = new Set<string>();
  for (let calls = 0; calls < count; calls += 1) {
    const token = await call(source);
    if (token === undefined) waited += 1;
    else {
      tokens.add(token.accessToken);
      leastLifeMs = Math.min(leastLifeMs, (token.expiresAt ?? 0) - clock.now());
    }
    await advance(everyMs);
  }
  return { waited, leastLifeMs, tokens: tokens.size };
}

describe('Service token source: ten thousand calls in an hour', { timeout: 60_000 }, () => {
  it.each([
    // Lifetime, window, and when the renewals begin: each token is obtained where the one before is replaced.
    { lifetimeSeconds: 3_600, windowMs: 5 * MINUTE, renewals: 1, renewAfterMs: 55 * MINUTE },
    { lifetimeSeconds: 900, windowMs: 5 * MINUTE, renewals: 6, renewAfterMs: 10 * MINUTE },
    { lifetimeSeconds: 300, windowMs: 5 * MINUTE, renewals: 24, renewAfterMs: 150 * SECOND },
    { lifetimeSeconds: 60, windowMs: 0, renewals: 120, renewAfterMs: 30 * SECOND },
    { lifetimeSeconds: 24, windowMs: 5 * MINUTE, renewals: 514, renewAfterMs: 7 * SECOND },
  ])(
    'token requests as lifetime $lifetimeSeconds s and window $windowMs ms imply, never two at once, no token in its last 10 s, no caller waits but the first',
    async ({ lifetimeSeconds, windowMs, renewals, renewAfterMs }) => {
      const world = setUpServices();
      world.endpoint.lifetimeSeconds = lifetimeSeconds;
      world.endpoint.latencyMs = 0;
      const source = world.create({ refreshWindowMs: windowMs });
      const start = world.clock.now();
      const seen = await makeCalls(world, source, { count: 10_000, everyMs: 360 });
      expect(world.clock.now() - start).toBe(HOUR);
      const times = world.endpoint.requests.map(({ at }) => at - start);
      expect(times).toEqual(Array.from({ length: renewals + 1 }, (_, n) => n * renewAfterMs));
      expect(world.endpoint.mostUnderWay).toBe(1);
      expect(seen.waited).toBe(0);
      expect(seen.tokens).toBe(times.filter((time) => time < HOUR).length);
      expect(seen.leastLifeMs).toBeGreaterThan(10 * SECOND);
    },
  );

  it('with an endpoint that takes two seconds the first call alone waits, and requests come at random moments of the window', async () => {
    const world = setUpServices({ seed: 15 });
    world.endpoint.lifetimeSeconds = 600;
    world.endpoint.latencyMs = 2 * SECOND;
    const source = world.create();
    const start = world.clock.now();
    const first = source.get();
    await world.advance(2 * SECOND);
    expect((await first).ok).toBe(true);
    const seen = await makeCalls(world, source, { count: 10_000, everyMs: 360 });
    const times = world.endpoint.requests.map(({ at }) => at - start);
    // Each lives 10 minutes: replaced after 5 minutes, or up to 145 s later, half of what remains to the reserve.
    const distances = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    for (const distance of distances) {
      expect(distance).toBeGreaterThanOrEqual(5 * MINUTE);
      expect(distance).toBeLessThan(5 * MINUTE + 145 * SECOND);
    }
    expect(new Set(distances).size).toBe(distances.length);
    expect(world.endpoint.mostUnderWay).toBe(1);
    expect(seen.waited).toBe(0);
    expect(seen.leastLifeMs).toBeGreaterThan(10 * SECOND);
  });

  it('calls that come together at the start share one request', async () => {
    const world = setUpServices();
    const source = world.create();
    const calls = Array.from({ length: 50 }, () => source.get());
    await world.advance(SECOND);
    const tokens = await Promise.all(calls);
    expect(tokens.every((token) => token.ok && token.value.accessToken === 'access-1')).toBe(true);
    expect(world.endpoint.requests).toHaveLength(1);
  });

  it('asks for nothing before the first call, and is refreshed from then on though no call follows', async () => {
    const world = setUpServices();
    const source = world.create();
    await world.advance(2 * HOUR);
    expect(world.endpoint.requests).toHaveLength(0);
    void source.get();
    await world.advance(24 * HOUR);
    expect(world.endpoint.requests.length).toBeGreaterThan(24);
  });
});

describe('Service token source: 200 clients restarted together', { timeout: 60_000 }, () => {
  /** Starts clients that each make a call in the same millisecond. */
  function startTogether(world: ServiceWorld, startSpreadMs?: number) {
    const random = createSeededRandom(200);
    return Array.from({ length: 200 }, () => {
      const source = world.create({
        random,
        ...(startSpreadMs === undefined ? { startSpreadMs: 3_000 } : { startSpreadMs }),
      });
      return { source, first: source.get().catch(() => undefined) };
    });
  }

  it('come at most 90 in any second at the start, and at most 10 in any second of each later hour', async () => {
    const world = setUpServices();
    const clients = startTogether(world);
    await world.advance(4 * SECOND);
    const tokens = await Promise.all(clients.map(({ first }) => first));
    expect(tokens.every((token) => token?.ok === true)).toBe(true);
    expect(world.endpoint.requests).toHaveLength(200);
    expect(world.endpoint.mostInASecond).toBeLessThanOrEqual(90);
    for (let hour = 0; hour < 3; hour += 1) {
      world.endpoint.requests.length = 0;
      await world.advance(58 * MINUTE);
      expect(world.endpoint.requests.length).toBeGreaterThanOrEqual(180);
      expect(world.endpoint.mostInASecond).toBeLessThanOrEqual(10);
    }
    for (const { source } of clients) source.close();
  });

  it('come all in one second without the wait at the start', async () => {
    const world = setUpServices();
    const clients = startTogether(world, 0);
    await world.advance(4 * SECOND);
    expect(world.endpoint.mostInASecond).toBe(200);
    for (const { source } of clients) source.close();
  });

  it('have all got a token within 2 minutes of an endpoint that answers 20 a second, and 429 to the rest', async () => {
    const world = setUpServices();
    world.endpoint.capacity = 20;
    const clients = startTogether(world);
    await world.advance(2 * MINUTE);
    expect(clients.filter(({ source }) => source.status().isUsable)).toHaveLength(200);
    for (const { source } of clients) source.close();
  });
});

describe('Service token source: what tokens say of their end', () => {
  it('a token without an end is replaced 5 minutes after it was obtained, and used on while that fails', async () => {
    const world = setUpServices();
    world.endpoint.lifetimeSeconds = undefined;
    world.endpoint.latencyMs = 0;
    const source = world.create();
    expect((await call(source))?.accessToken).toBe('access-1');
    await world.advance(5 * MINUTE - 1);
    expect((await call(source))?.accessToken).toBe('access-1');
    world.endpoint.fault = 'down';
    await world.advance(48 * HOUR);
    expect((await call(source))?.accessToken).toBe('access-1');
    world.endpoint.fault = undefined;
    await world.advance(MINUTE);
    expect((await call(source))?.accessToken).toBe('access-2');
  });

  it.each([0, 5, 10])(
    'a token that lives %s seconds is refused by name, and given to no call',
    async (lifetimeSeconds) => {
      const world = setUpServices();
      world.endpoint.lifetimeSeconds = lifetimeSeconds;
      world.endpoint.latencyMs = 0;
      expect(await world.create().get()).toMatchObject({
        error: {
          error: 'token_lifetime_too_short',
          description: expect.stringContaining('10 seconds'),
        },
      });
    },
  );

  it('tokens of 11 seconds cost no more than one request a second', async () => {
    const world = setUpServices();
    world.endpoint.lifetimeSeconds = 11;
    world.endpoint.latencyMs = 0;
    await makeCalls(world, world.create(), { count: 1_000, everyMs: 60 });
    expect(world.endpoint.requests.length).toBeLessThanOrEqual(61);
  });

  it('a token of 90 days is replaced in time, though a timer of Node takes 24 days at most', async () => {
    const world = setUpServices();
    world.endpoint.lifetimeSeconds = 90 * 86_400;
    world.endpoint.latencyMs = 0;
    const longest = { ms: 0 };
    const source = world.create({
      schedule: (ms, callback) => {
        longest.ms = Math.max(longest.ms, ms);
        return world.timers.schedule(ms, callback);
      },
    });
    await call(source);
    expect(longest.ms).toBe(MINUTE);
    world.clock.advance(90 * 24 * HOUR - 4 * MINUTE);
    await world.advance(MINUTE);
    expect((await call(source))?.accessToken).toBe('access-2');
  });

  it('after the machine slept past its end the next call waits for one request, and gets the new token', async () => {
    const world = setUpServices();
    const source = world.create();
    void source.get();
    await world.advance(SECOND);
    world.clock.advance(8 * HOUR);
    const late = source.get();
    await world.advance(SECOND);
    expect(await late).toMatchObject({ value: { accessToken: 'access-2' } });
    expect(world.endpoint.requests).toHaveLength(2);
  });

  it.each([50 * SECOND, HOUR])(
    'a clock that was set back by %i ms gives no token less than 10 seconds before its real end',
    async (stepMs) => {
      const world = setUpServices();
      world.endpoint.latencyMs = 0;
      world.endpoint.lifetimeSeconds = 15;
      let elapsedMs = 0;
      const source = world.create({ monotonic: () => elapsedMs });
      expect((await call(source))?.accessToken).toBe('access-1');
      world.clock.advance(-stepMs);
      elapsedMs = 4_999;
      expect(source.status().isUsable).toBe(true);
      elapsedMs = 5_000;
      expect(source.status().isUsable).toBe(false);
      expect((await call(source))?.accessToken).toBe('access-2');
      source.close();
    },
  );

  it('a clock that was set back by a day costs one request', async () => {
    const world = setUpServices();
    world.endpoint.latencyMs = 0;
    const source = world.create();
    await call(source);
    world.clock.advance(-24 * HOUR);
    await call(source);
    await settled();
    expect((await call(source))?.accessToken).toBe('access-2');
    await world.advance(10 * MINUTE);
    expect(world.endpoint.requests).toHaveLength(2);
  });
});

describe('Service token source: end', () => {
  it('close ends the timers; calls after it are a mistake of the program', async () => {
    const world = setUpServices();
    const source = world.create();
    void source.get();
    await world.advance(SECOND);
    expect(world.timers.pending).toBe(1);
    source.close();
    expect(world.timers.pending).toBe(0);
    await expect(source.get()).rejects.toThrow(new TypeError('the token source is closed'));
    await world.advance(2 * HOUR);
    expect(world.endpoint.requests).toHaveLength(1);
  });

  it('close during a request starts nothing more', async () => {
    const world = setUpServices();
    const source = world.create();
    const waiting = source.get();
    await settled();
    source.close();
    await expect(Promise.all([waiting, world.advance(SECOND)])).rejects.toThrow(
      'the token source is closed',
    );
    expect(world.timers.pending).toBe(0);
  });

  it('a caller that leaves ends its own wait alone', async () => {
    const world = setUpServices();
    const source = world.create();
    const controller = new AbortController();
    const leaving = source.get({ signal: controller.signal });
    const staying = source.get();
    await settled();
    controller.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    await world.advance(SECOND);
    expect(await staying).toMatchObject({ value: { accessToken: 'access-1' } });
  });
});
