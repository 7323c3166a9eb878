/**
 * Replies of a Redis server, and reading them: nothing about their shape is taken for granted.
 *
 * @module
 */

/** A reply; bulk strings are bytes. */
export type RedisReply = string | number | Buffer | null | readonly RedisReply[];

/** The parts of a reply; none where it has none. */
export function toList(reply: RedisReply | undefined): readonly RedisReply[] {
  return Array.isArray(reply) ? reply : [];
}

/** A reply of names and values in turn, by name. */
export function toFields(reply: RedisReply | undefined): ReadonlyMap<string, RedisReply> {
  const parts = toList(reply);
  return new Map(
    parts.flatMap((name, index) =>
      index % 2 === 0 ? [[String(name), parts[index + 1] ?? null] as const] : [],
    ),
  );
}
