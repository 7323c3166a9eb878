import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { signInOf } from '../wire/logout-token.ts';
import { type Service, startHostedService, WEB_CLIENT_SECRET } from '../wire/platform.ts';
import { temporaryFolder } from '../wire/process.ts';
import { SESSION_COOKIE } from '../wire/sign-in.ts';
import { PURPOSES, type RingKey, tryToOpen } from './sealed-record.ts';
import { spellings } from './spellings.ts';

const SUBJECT = 'subject-of-a-person';
const PERSON = { name: 'Ada Canary Lovelace', email: 'ada.canary@example.test' };
const SESSIONS = 5;

interface Row {
  readonly id: number;
  readonly binding: string;
  readonly metadata: Uint8Array;
  readonly tokens: Uint8Array;
}

describe('A copy of the state directory of a running service', () => {
  const copy = temporaryFolder();
  let service: Service;
  let keys: readonly RingKey[];
  let rows: readonly Row[];
  /** Secret parts of the cookies, by session id. */
  const secrets = new Map<number, Buffer>();
  const idTokens: string[] = [];

  beforeAll(async () => {
    service = await startHostedService();
    for (let count = 0; count < SESSIONS; count += 1) {
      const browser = new Browser();
      const { forge } = signInOf(SUBJECT);
      await service.signIn(browser, '/', {
        userInfo: { sub: SUBJECT, ...PERSON, email_verified: true },
        async forge(forgery) {
          const token = await (forge?.(forgery) ?? service.idp.honest(forgery));
          idTokens.push(token);
          return token;
        },
      });
      const [id = '', secret = ''] = (browser.cookie('localhost', SESSION_COOKIE) ?? '').split('.');
      secrets.set(Buffer.from(id, 'base64url').readUIntBE(0, 6), Buffer.from(secret, 'base64url'));
    }
    for (const file of ['sessions.sqlite', 'sessions.sqlite-wal', 'key-ring.json'])
      copyFileSync(join(service.state, file), join(copy.path, file));
    keys = JSON.parse(readFileSync(join(copy.path, 'key-ring.json'), 'utf8')).keys;
    rows = readRows(join(copy.path, 'sessions.sqlite'));
  });
  afterAll(async () => {
    await service.stop();
    copy.remove();
  });

  /** Every key with every purpose, with a further secret or none. */
  const openWith = (
    ring: readonly RingKey[],
    sealed: (row: Row) => Uint8Array,
    secretOf: (row: Row) => Buffer | undefined = () => undefined,
  ): readonly string[] =>
    rows.flatMap((row) =>
      ring.flatMap((key) =>
        PURPOSES.flatMap((purpose) => {
          const secret = secretOf(row);
          const attempt = { key, purpose, binding: row.binding };
          const whole = secret === undefined ? attempt : { ...attempt, secret };
          return tryToOpen(sealed(row), whole) ?? [];
        }),
      ),
    );
  const metadata = (row: Row) => row.metadata;
  const tokens = (row: Row) => row.tokens;

  it('holds every session, and a ring', () => {
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(secrets.keys()));
    expect(keys.length).toBeGreaterThan(0);
  });

  it('without its key ring opens nothing', () => {
    const foreign = keys.map((key) => ({ ...key, key: Buffer.alloc(32, 7).toString('base64url') }));
    expect(openWith(foreign, metadata)).toEqual([]);
    expect(openWith(foreign, tokens, ({ id }) => secrets.get(id))).toEqual([]);
  });

  it('with its key ring says who is signed in, and opens no token', () => {
    const opened = openWith(keys, metadata).map((text) => JSON.parse(text));
    expect(opened).toHaveLength(SESSIONS);
    for (const { principal, user } of opened) {
      expect(principal.subject).toBe(SUBJECT);
      expect(user).toMatchObject(PERSON);
    }
    expect(openWith(keys, tokens)).toEqual([]);
    // The hash of the secret, which the metadata holds, and other guesses without a cookie.
    const hashes = new Map(
      rows.map(({ id }, at) => [id, Buffer.from(opened[at].secretHash, 'base64url')]),
    );
    expect([...hashes.values()].every(({ length }) => length === 32)).toBe(true);
    expect(openWith(keys, tokens, ({ id }) => hashes.get(id))).toEqual([]);
    expect(openWith(keys, tokens, () => Buffer.alloc(32))).toEqual([]);
    expect(openWith(keys, tokens, () => Buffer.alloc(0))).toEqual([]);
  });

  it('with its key ring and a cookie opens the tokens of that session alone', () => {
    const opened = openWith(keys, tokens, ({ id }) => secrets.get(id));
    expect(opened).toHaveLength(SESSIONS);
    expect(new Set(opened.map((text) => JSON.parse(text).idToken))).toEqual(new Set(idTokens));
    for (const text of opened) expect(JSON.parse(text).refreshToken).toBe('refresh-token-of-ada');
    const [first] = secrets.values();
    expect(openWith(keys, tokens, () => first)).toHaveLength(1);
  });

  it('holds no token, secret, e-mail address or name that can be read, in whatever encoding', () => {
    const files = [copy.path, service.state].flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.startsWith('sessions.sqlite') || name === 'key-ring.json')
        .map((name) => readFileSync(join(folder, name))),
    );
    const raw = Buffer.concat(files);
    const texts = [
      ...idTokens.flatMap((token) => token.split('.')),
      'refresh-token-of-ada',
      'access-token-of',
      WEB_CLIENT_SECRET,
      SUBJECT,
      'Ada Canary',
      'Lovelace',
      PERSON.email,
      'example.test',
      service.idp.issuer,
    ];
    for (const text of texts)
      for (const spelling of spellings(Buffer.from(text)))
        expect(raw.includes(spelling), `${text} in ${spelling}`).toBe(false);
    for (const secret of secrets.values())
      for (const spelling of spellings(secret)) expect(raw.includes(spelling)).toBe(false);
    // What may stand there in the clear is found.
    for (const { metadata } of rows) expect(raw.includes(metadata)).toBe(true);
    for (const { key } of keys) expect(raw.includes(key)).toBe(true);
  });
});

function readRows(path: string): readonly Row[] {
  const store = new DatabaseSync(path, { readOnly: true });
  const found = store.prepare('SELECT id, generation, metadata, tokens FROM session').all();
  store.close();
  return found.map(({ id, generation, metadata, tokens }) => ({
    id: Number(id),
    binding: `${id}/${generation}`,
    metadata: metadata as Uint8Array,
    tokens: tokens as Uint8Array,
  }));
}
