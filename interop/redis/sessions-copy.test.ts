import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AttackedFleetIdp,
  startAttackedFleetIdp,
} from '../../conformance/sessions/attacked-fleet-idp.ts';
import { PURPOSES, type RingKey, tryToOpen } from '../../conformance/sessions/sealed-record.ts';
import { spellings } from '../../conformance/sessions/spellings.ts';
import { Browser } from '../../conformance/wire/browser.ts';
import { type Fleet, startFleet } from '../../conformance/wire/fleet.ts';
import { signInOf } from '../../conformance/wire/logout-token.ts';
import { WEB_CLIENT_SECRET } from '../../conformance/wire/platform.ts';
import { SESSION_COOKIE } from '../../conformance/wire/sign-in.ts';
import { type CopiedKey, copyFiles, copyKeys } from './redis-copy.ts';
import { redisFile } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

const SUBJECT = 'subject-of-a-person';
const SID = 'session-of-a-person-at-the-idp';
const PERSON = { name: 'Ada Canary Lovelace', email: 'ada.canary@example.test' };
const SESSIONS = 4;
/** Kinds of keys that stay until a sweep, or with what they name. */
const WITHOUT_END = ['ends', 'o', 'revoked'];

/** A record, read by what docs/storage-schema.md says of it. */
interface CopiedRecord {
  readonly id: number;
  readonly binding: string;
  readonly metadata: Buffer;
  readonly tokens: Buffer;
}

describe.skipIf(REDIS.isLeftOut)('redis-server: a copy of the Redis of a running service', () => {
  let redis: RedisServer;
  let idp: AttackedFleetIdp;
  let fleet: Fleet;
  let keys: readonly CopiedKey[];
  let files: readonly Buffer[];
  let records: readonly CopiedRecord[];
  let ring: readonly RingKey[];
  /** Secret parts of the cookies, by session id. */
  const secrets = new Map<number, Buffer>();
  const idTokens: string[] = [];

  beforeAll(async () => {
    redis = await startRedis({ appendOnly: true });
    idp = await startAttackedFleetIdp();
    fleet = await startFleet({
      processes: 1,
      idp,
      file: redisFile({ addresses: [`127.0.0.1:${redis.port}`] }),
    });
    for (let count = 0; count < SESSIONS; count += 1) await signIn(SUBJECT);
    // What is left of those who were there.
    const signedOut = await signIn(SUBJECT);
    await leave(signedOut, '/logout', {});
    const everywhere = await signIn('somebody-else');
    await leave(everywhere, '/auth/account', { end: 'all' });
    keys = await copyKeys(redis);
    files = await copyFiles(redis);
    records = keys.filter(({ kind }) => kind === 's').map(readRecord);
    ring = JSON.parse(readFileSync(join(fleet.state, 'key-ring.json'), 'utf8')).keys;
  });
  afterAll(async () => {
    await fleet.stop();
    await idp.close();
    await redis.stop();
  });

  async function signIn(subject: string): Promise<Browser> {
    const browser = new Browser();
    const { forge } = signInOf(subject, SID + secrets.size);
    const sent = await browser.step(`${fleet.publicUrl}/login`);
    const query = idp.attacker.authorize(sent.location ?? '', {
      userInfo: { sub: subject, ...PERSON, email_verified: true },
      async forge(forgery) {
        const token = await (forge?.(forgery) ?? idp.attacker.honest(forgery));
        idTokens.push(token);
        return token;
      },
    });
    await browser.step(`${fleet.publicUrl}/callback?${query}`);
    const [id = '', secret = ''] = (browser.cookie('localhost', SESSION_COOKIE) ?? '').split('.');
    secrets.set(Buffer.from(id, 'base64url').readUIntBE(0, 6), Buffer.from(secret, 'base64url'));
    return browser;
  }

  async function leave(
    browser: Browser,
    path: string,
    form: Readonly<Record<string, string>>,
  ): Promise<void> {
    const headers = { origin: fleet.publicUrl, 'sec-fetch-site': 'same-origin' };
    const { status } = await browser.step(fleet.publicUrl + path, { form, headers });
    expect(status).toBe(303);
  }

  /** Every key of a ring with every purpose, with a further secret or none. */
  const openWith = (
    keysOfRing: readonly RingKey[],
    part: 'metadata' | 'tokens',
    secretOf: (record: CopiedRecord) => Buffer | undefined = () => undefined,
  ): readonly string[] =>
    records.flatMap((record) =>
      keysOfRing.flatMap((key) =>
        PURPOSES.flatMap((purpose) => {
          const secret = secretOf(record);
          const attempt = { key, purpose, binding: record.binding };
          const whole = secret === undefined ? attempt : { ...attempt, secret };
          return tryToOpen(record[part], whole) ?? [];
        }),
      ),
    );
  const secretOf = ({ id }: CopiedRecord) => secrets.get(id);

  it('holds every session and what is left of ended ones, and every key but the documented ones has an end', () => {
    expect(records).toHaveLength(SESSIONS);
    expect(records.map(({ id }) => secrets.has(id))).not.toContain(false);
    const kinds = new Set(keys.map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual(['c', 'e', 'ends', 'm', 'o', 'revoked', 's']);
    for (const { kind, leftMs } of keys)
      expect([kind, leftMs === undefined]).toEqual([kind, WITHOUT_END.includes(kind)]);
    // Twelve hours at most, but for records: a week, and an hour more.
    const limits = { c: 22 * 60_000, e: 12 * 3_600_000, m: 3_600_000, s: 169 * 3_600_000 };
    for (const [kind, limit] of Object.entries(limits))
      for (const { leftMs } of keys.filter((key) => key.kind === kind))
        expect(leftMs).toBeLessThanOrEqual(limit);
  });

  it('without the key ring opens nothing', () => {
    const foreign = ring.map((key) => ({ ...key, key: Buffer.alloc(32, 7).toString('base64url') }));
    expect(openWith(foreign, 'metadata')).toEqual([]);
    expect(openWith(foreign, 'tokens', secretOf)).toEqual([]);
  });

  it('with the key ring says who is signed in, and opens no token', () => {
    const opened = openWith(ring, 'metadata').map((text) => JSON.parse(text));
    expect(opened).toHaveLength(SESSIONS);
    for (const { principal, user } of opened) {
      expect(principal.subject).toBe(SUBJECT);
      expect(user).toMatchObject(PERSON);
    }
    expect(openWith(ring, 'tokens')).toEqual([]);
    // The hash of the secret, which the metadata holds, and whatever else stands there with its length.
    const guesses = [
      ...opened.map(({ secretHash }) => Buffer.from(secretHash, 'base64url')),
      ...keys.filter(({ kind }) => kind === 'c').map(({ rest }) => rest),
      Buffer.alloc(32),
      Buffer.alloc(0),
    ];
    expect(guesses.filter(({ length }) => length === 32).length).toBeGreaterThan(2 * SESSIONS);
    for (const guess of guesses) expect(openWith(ring, 'tokens', () => guess)).toEqual([]);
  });

  it('with the key ring and a cookie opens the tokens of that session alone', () => {
    const opened = openWith(ring, 'tokens', secretOf).map((text) => JSON.parse(text));
    const openedIdTokens = new Set(opened.map(({ idToken }) => idToken));
    expect(openedIdTokens).toEqual(new Set(idTokens.slice(0, SESSIONS)));
    for (const { refreshToken } of opened) expect(refreshToken).toBe('refresh-token-of-ada');
    const [first] = secrets.values();
    expect(openWith(ring, 'tokens', () => first)).toHaveLength(1);
  });

  it('holds no token, secret, e-mail address, name, subject or issuer that can be read, in whatever encoding, in a key, a value or a file', () => {
    const inKeys = Buffer.concat(keys.flatMap(({ name, values, dump }) => [name, dump, ...values]));
    const inFiles = Buffer.concat(files);
    const raw = Buffer.concat([inKeys, inFiles]);
    const texts = [
      ...idTokens.flatMap((token) => token.split('.')),
      'refresh-token-of-ada',
      'access-token-of',
      WEB_CLIENT_SECRET,
      SUBJECT,
      'somebody-else',
      SID,
      'Ada Canary',
      'Lovelace',
      PERSON.email,
      'example.test',
      idp.attacker.issuer,
      ...ring.map(({ key }) => key),
    ];
    for (const text of texts)
      for (const spelling of spellings(Buffer.from(text)))
        expect(raw.includes(spelling), `${text} in ${spelling}`).toBe(false);
    const bytes = [...secrets.values(), ...ring.map(({ key }) => Buffer.from(key, 'base64url'))];
    for (const secret of bytes)
      for (const spelling of spellings(secret)) expect(raw.includes(spelling)).toBe(false);
    // What may stand there in the clear is found.
    for (const { metadata } of records) {
      expect(inKeys.includes(metadata)).toBe(true);
      expect(inFiles.includes(metadata)).toBe(true);
    }
  });
});

function readRecord({ rest, values }: CopiedKey): CopiedRecord {
  const [record = Buffer.alloc(0)] = values;
  const id = rest.readUIntBE(0, 6);
  const metadataAt = 36 + record.readUInt8(30) + record.readUInt8(31);
  const tokensAt = metadataAt + record.readUInt32BE(32);
  return {
    id,
    binding: `${id}/${record.readUInt32BE(2)}`,
    metadata: record.subarray(metadataAt, tokensAt),
    tokens: record.subarray(tokensAt),
  };
}
