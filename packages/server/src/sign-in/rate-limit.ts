/**
 * Rate limit for sign-ins: holds back a client that starts them faster than a person can.
 *
 * @module
 */

/**
 * Takes one turn; says whether it may go ahead, else after how many seconds.
 *
 * @param takes - 0 only looks: for whom not every request counts.
 */
export type RateLimit = (
  key: string,
  takes?: 0 | 1,
) => { readonly ok: true } | { readonly ok: false; readonly retryAfterSeconds: number };

/** More keys than this are forgotten, the oldest first: the table is for clients that ask too often. */
const KEYS_MAX = 10_000;

/**
 * Creates a token bucket for each key.
 *
 * @param perMinute - Turns a key gets back in a minute, and may have saved up.
 * @param now - Epoch milliseconds.
 */
export function createRateLimit(perMinute: number, now: () => number): RateLimit {
  const buckets = new Map<string, { turns: number; countedAt: number }>();

  return (key, takes = 1) => {
    if (takes === 0 && !buckets.has(key)) return { ok: true };
    const time = now();
    const bucket = buckets.get(key) ?? { turns: perMinute, countedAt: time };
    const gained = (Math.max(0, time - bucket.countedAt) * perMinute) / 60_000;
    const turns = Math.min(perMinute, bucket.turns + gained);
    buckets.delete(key);
    buckets.set(key, { turns: turns >= 1 ? turns - takes : turns, countedAt: time });
    if (buckets.size > KEYS_MAX) {
      const [oldest] = buckets.keys();
      if (oldest !== undefined) buckets.delete(oldest);
    }
    return turns >= 1
      ? { ok: true }
      : { ok: false, retryAfterSeconds: Math.max(1, Math.ceil(((1 - turns) * 60) / perMinute)) };
  };
}
