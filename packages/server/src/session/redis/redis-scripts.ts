/**
 * What the Redis store does in one step each: Lua scripts, every one atomic on the server.
 *
 * A full server (`maxmemory` with `noeviction`) refuses a script's first write when that needs memory,
 * and lets the rest pass once anything was written. Whatever ends or keeps up a session therefore
 * begins with a write that needs none; only a new session begins with one that does. Within a script
 * the record is written last and taken away first: if a cluster moves the keys at that moment and the
 * script breaks off, an index may name a record that is not there, which is harmless, but no record
 * stands that the indexes do not name.
 *
 * @module
 */

import { createHash } from 'node:crypto';
import type { Turn } from '../session-store.ts';
import type { RedisCommand, RedisConnection } from './redis-connection.ts';
import { isUnknownScript } from './redis-failure.ts';
import { MARK_KEPT_MS, REASON_KEPT_MS } from './redis-layout.ts';
import { RECORD_VERSION } from './redis-record.ts';
import type { RedisReply } from './redis-reply.ts';

/** A script, with the digest servers know it by. */
export interface RedisScript {
  readonly text: string;
  readonly digest: string;
}

/** The log keeps about this many entries. */
const LOG_LENGTH = 10_000;
/** Ids of one entry: small enough for a reader to take at once. */
const IDS_PER_ENTRY = 500;

/**
 * What the scripts share. `P` is what every key begins with, an id is its six bytes, and an owner is a
 * letter for its kind with its key.
 */
const COMMON = `
local P = ARGV[1]
local FIXED = '>BBI4I6I6I6I6BBI4'

local function evenWhenFull() redis.call('DEL', P .. 'nothing') end

local function headOf(id)
  local bytes = redis.call('GETRANGE', P .. 's:' .. id, 0, 35)
  if #bytes < 36 then return nil end
  local version, _, generation, used, stop, idle, signIn, ofPrincipal, ofSid =
    struct.unpack(FIXED, bytes)
  if version ~= ${RECORD_VERSION} then error('SALLYPORT record version', 0) end
  local owners = redis.call('GETRANGE', P .. 's:' .. id, 36, 35 + ofPrincipal + ofSid)
  return {
    generation = generation, used = used, stop = stop, idle = idle, signIn = signIn,
    p = string.sub(owners, 1, ofPrincipal), i = string.sub(owners, ofPrincipal + 1),
  }
end

local function memberOf(id, head) return id .. string.char(#head.p) .. head.p .. head.i end

local function ownersOf(head)
  return {'p' .. head.p, head.i == '' and 'n' .. head.p or 'i' .. head.i}
end

local function isOwnedBy(head, owner)
  local owners = ownersOf(head)
  return owners[1] == owner or owners[2] == owner
end

local function bucketOf(owner)
  local first, second = string.byte(owner, 2, 3)
  return P .. 'o:' .. (first * 16 + math.floor((second or 0) / 16))
end

local function forget(id, head)
  redis.call('ZREM', P .. 'ends', memberOf(id, head))
  for _, owner in ipairs(ownersOf(head)) do redis.call('HDEL', bucketOf(owner), owner .. id) end
end

local function idsOf(owner)
  local ids = {}
  for _, field in ipairs(redis.call('HKEYS', bucketOf(owner))) do
    if string.sub(field, 1, -7) == owner then ids[#ids + 1] = string.sub(field, -6) end
  end
  return ids
end

local function lastEntry()
  local entries = redis.call('XREVRANGE', P .. 'revoked', '+', '-', 'COUNT', 1)
  return entries[1] and entries[1][1] or '0-0'
end

local function publish(ids)
  for from = 1, #ids, ${IDS_PER_ENTRY} do
    local some = table.concat(ids, '', from, math.min(from + ${IDS_PER_ENTRY - 1}, #ids))
    redis.call('XADD', P .. 'revoked', 'MAXLEN', '~', ${LOG_LENGTH}, '*', 'ids', some, 'after', lastEntry())
  end
end

local function finish(id, head, reason)
  redis.call('DEL', P .. 's:' .. id)
  if head then forget(id, head) end
  redis.call('SET', P .. 'e:' .. id, reason, 'PX', ${REASON_KEPT_MS}, 'NX')
end

local function endOf(head) return math.min(head.stop, head.used + head.idle) end

local function lifeOf(head, now, kept) return math.max(endOf(head) - now, 0) + kept end
`;

/**
 * KEYS record. ARGV prefix, id, record, now, how long a record is kept past its end, replaced id or
 * empty, the reason that one ends for. Gives 0 when the id is taken, 1 when the session stands, 2 when
 * it ended at once.
 */
export const CREATE: RedisScript = script(`${COMMON}
local id, record = ARGV[2], ARGV[3]
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local published = {}
if ARGV[6] ~= '' then
  local replaced = headOf(ARGV[6])
  if replaced then finish(ARGV[6], replaced, ARGV[7]) end
  published[1] = ARGV[6]
end
local _, _, _, used, stop, idle, signIn, ofPrincipal, ofSid = struct.unpack(FIXED, record)
local head = {
  used = used, stop = stop, idle = idle,
  p = string.sub(record, 37, 36 + ofPrincipal),
  i = string.sub(record, 37 + ofPrincipal, 36 + ofPrincipal + ofSid),
}
local reason
for _, owner in ipairs(ownersOf(head)) do
  local upTo, why = string.match(redis.call('GET', P .. 'm:' .. owner) or '', '^(%d+) (%d)$')
  if upTo and signIn <= tonumber(upTo) then reason = why end
end
if reason then
  finish(id, nil, reason)
  published[#published + 1] = id
else
  for _, owner in ipairs(ownersOf(head)) do redis.call('HSET', bucketOf(owner), owner .. id, '') end
  redis.call('ZADD', P .. 'ends', endOf(head), memberOf(id, head))
  redis.call('SET', KEYS[1], record, 'PX', lifeOf(head, ARGV[4], ARGV[5]))
  redis.call('DEL', P .. 'e:' .. id)
end
publish(published)
return reason and 2 or 1`);

/** KEYS record. ARGV prefix, id, now, how long a record is kept past its end, last use. */
export const TOUCH: RedisScript = script(`${COMMON}
local id, head, used = ARGV[2], headOf(ARGV[2]), tonumber(ARGV[5])
if not head or used <= head.used then return 0 end
head.used = used
evenWhenFull()
redis.call('PEXPIRE', KEYS[1], lifeOf(head, ARGV[3], ARGV[4]))
redis.call('SETRANGE', KEYS[1], 6, struct.pack('>I6', used))
redis.call('ZADD', P .. 'ends', endOf(head), memberOf(id, head))
return 1`);

/**
 * KEYS record. ARGV prefix, id, now, how long a record is kept past its end, the generation to put in
 * place of the one before, last use, absolute end, idle time, metadata, tokens. Owners and sign-in stay
 * as they are. Gives whether the one before stood.
 */
export const REPLACE: RedisScript = script(`${COMMON}
local id, head, generation = ARGV[2], headOf(ARGV[2]), tonumber(ARGV[5])
if not head or head.generation ~= generation - 1 then return 0 end
head.used, head.stop, head.idle = math.max(head.used, ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local fixed = struct.pack(FIXED, ${RECORD_VERSION}, 0, generation, head.used, head.stop, head.idle,
  head.signIn, #head.p, #head.i, #ARGV[9])
evenWhenFull()
redis.call('ZADD', P .. 'ends', endOf(head), memberOf(id, head))
redis.call('SET', KEYS[1], fixed .. head.p .. head.i .. ARGV[9] .. ARGV[10],
  'PX', lifeOf(head, ARGV[3], ARGV[4]))
return 1`);

/** KEYS record, lease. ARGV prefix, id, generation, holder, milliseconds. Gives whether both still stand. */
export const NOTE_RENEWAL_SENT: RedisScript = script(`${COMMON}
local head = headOf(ARGV[2])
if not head or head.generation ~= tonumber(ARGV[3]) then return 0 end
local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[4] then return 0 end
redis.call('DEL', KEYS[2])
redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])
redis.call('SETRANGE', KEYS[1], 1, string.char(1))
return 1`);

/** KEYS record, lease. ARGV prefix, id, generation, holder. */
export const WITHDRAW_RENEWAL_SENT: RedisScript = script(`${COMMON}
local head = headOf(ARGV[2])
if not head or head.generation ~= tonumber(ARGV[3]) then return 0 end
if redis.call('GET', KEYS[2]) ~= ARGV[4] then return 0 end
evenWhenFull()
redis.call('SETRANGE', KEYS[1], 1, string.char(0))
return 1`);

/** KEYS lease. ARGV holder, milliseconds. Gives whether the holder has it. */
export const LEASE: RedisScript = script(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`);

/** KEYS claim, turn. ARGV holder, milliseconds, 0 to give it back. Gives the place of the outcome in `TURNS`. */
export const TAKE_TURN: RedisScript = script(`
if redis.call('GET', KEYS[1]) then return 2 end
local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[1] then return 1 end
redis.call('DEL', KEYS[2])
if ARGV[2] ~= '0' then redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2]) end
return 0`);

/** Answers of {@link TAKE_TURN}. */
export const TURNS: readonly Turn[] = ['taken', 'under_way', 'claimed'];

/** KEYS lease. ARGV holder. */
export const RELEASE: RedisScript = script(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0`);

/**
 * KEYS record. ARGV prefix, id, reason, the only generation to end or empty. Gives whether it was ended;
 * without a generation sessions that are gone already are reported too, for processes that may still remember them.
 */
export const REVOKE: RedisScript = script(`${COMMON}
local id, head = ARGV[2], headOf(ARGV[2])
if ARGV[4] ~= '' and not (head and head.generation == tonumber(ARGV[4])) then return 0 end
finish(id, head, ARGV[3])
publish({id})
return 1`);

/**
 * KEYS the owner's mark. ARGV prefix, owner, how far it reaches among sessions and among sign-ins,
 * reason, most sessions to end at a time. Gives the ended ids; as many as the most mean that there may
 * be more.
 */
export const REVOKE_ALL: RedisScript = script(`${COMMON}
local owner, upTo, signIns = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
evenWhenFull()
local marked = tonumber(string.match(redis.call('GET', KEYS[1]) or '', '^%d+') or -1)
if signIns >= marked then
  redis.call('SET', KEYS[1], string.format('%.0f ', signIns) .. ARGV[5], 'PX', ${MARK_KEPT_MS})
end
local ended = {}
for _, id in ipairs(idsOf(owner)) do
  local head = headOf(id)
  if not head or not isOwnedBy(head, owner) then
    redis.call('HDEL', bucketOf(owner), owner .. id)
  elseif head.signIn <= upTo then
    finish(id, head, ARGV[5])
    ended[#ended + 1] = id
    if #ended == tonumber(ARGV[6]) then break end
  end
end
publish(ended)
return ended`);

/** KEYS ends, for its place. ARGV prefix, owner, most. Gives ids and records in turn, and drops ids without one. */
export const LIST_BY_OWNER: RedisScript = script(`${COMMON}
local owner, found = ARGV[2], {}
for _, id in ipairs(idsOf(owner)) do
  local record = redis.call('GET', P .. 's:' .. id)
  if record then
    found[#found + 1] = id
    found[#found + 1] = record
    if #found >= 2 * ARGV[3] then break end
  else
    redis.call('HDEL', bucketOf(owner), owner .. id)
  end
end
return found`);

/** KEYS ends. ARGV prefix, cursor, about how many. Gives the next cursor, then ids and records in turn. */
export const LIST: RedisScript = script(`
local page = redis.call('ZSCAN', KEYS[1], ARGV[2], 'COUNT', ARGV[3])
local found = {page[1]}
for index = 1, #page[2], 2 do
  local id = string.sub(page[2][index], 1, 6)
  local record = redis.call('GET', ARGV[1] .. 's:' .. id)
  if record then
    found[#found + 1] = id
    found[#found + 1] = record
  end
end
return found`);

/**
 * KEYS ends. ARGV prefix, now, most. Gives the ids of the sessions past their end that were taken away.
 * What the server dropped by itself is found as well, by the owners' keys that stand beside the id. Past
 * their end by the server's clock too: one process whose clock is ahead must not end all sessions.
 */
export const SWEEP: RedisScript = script(`${COMMON}
local time = redis.call('TIME')
local upTo = math.min(ARGV[2], time[1] * 1000)
local members = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', upTo, 'LIMIT', 0, ARGV[3])
local swept = {}
for _, member in ipairs(members) do
  local id, ofPrincipal = string.sub(member, 1, 6), string.byte(member, 7)
  redis.call('DEL', P .. 's:' .. id)
  forget(id, {p = string.sub(member, 8, 7 + ofPrincipal), i = string.sub(member, 8 + ofPrincipal)})
  swept[#swept + 1] = id
end
return swept`);

/**
 * KEYS log. ARGV prefix, the last entry seen or empty. Gives where to read on, and 1 when that entry is
 * still there, so that nothing was missed. Else reading begins at the end of a log that is new to the
 * reader, with an entry made for it if there is none: from then on its loss can be detected.
 */
export const FIND_PLACE: RedisScript = script(`${COMMON}
if ARGV[2] ~= '' and redis.call('XRANGE', KEYS[1], ARGV[2], ARGV[2])[1] then return {ARGV[2], 1} end
evenWhenFull()
if lastEntry() == '0-0' then redis.call('XADD', KEYS[1], '*', 'ids', '', 'after', '0-0') end
return {lastEntry(), 0}`);

/** Runs a script on the connection of the moment; fails as the store does. */
export type RunScript = (
  script: RedisScript,
  keys: RedisCommand,
  args: RedisCommand,
) => Promise<RedisReply>;

/**
 * Runs a script by its digest, and by its text on a server that has not seen it yet.
 *
 * @throws As `RedisConnection.send`.
 */
export async function runScript(
  connection: Pick<RedisConnection, 'send'>,
  { text, digest }: RedisScript,
  keys: RedisCommand,
  args: RedisCommand,
): Promise<RedisReply> {
  const rest = [keys.length, ...keys, ...args];
  try {
    return await connection.send(['EVALSHA', digest, ...rest]);
  } catch (error) {
    if (!isUnknownScript(error)) throw error;
    return connection.send(['EVAL', text, ...rest]);
  }
}

function script(text: string): RedisScript {
  return { text, digest: createHash('sha1').update(text).digest('hex') };
}
