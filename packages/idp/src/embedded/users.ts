/**
 * The two seeded users of the embedded IdP and how a password is checked.
 *
 * @module
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type StateDirectory, unusableFile } from './state-directory.ts';

/** A person who can sign in at the embedded IdP. */
export interface SeededUser {
  /** Typed on the sign-in page; also the subject (`sub`) of the tokens. */
  readonly login: string;
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

/** Name of the file with one `<login> <password>` line for each user. */
export const PASSWORDS_FILE = 'passwords';

const SEEDS = [
  { login: 'ada', name: 'Ada Lovelace', email: 'ada@example.test' },
  { login: 'grace', name: 'Grace Hopper', email: 'grace@example.test' },
] as const;

/** Crockford's alphabet: nothing in it can be mistaken for something else when read aloud. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const GROUPS = 4;
const GROUP_LENGTH = 4;

/**
 * Reads the users of a state directory, or makes their passwords.
 *
 * A password may be changed by editing the file; it must not hold white space.
 *
 * @throws {SallyportError} `SP_CONFIG_INVALID` when a user has no line in the file.
 */
export async function keepUsers(directory: StateDirectory): Promise<readonly SeededUser[]> {
  const text = await directory.keep(PASSWORDS_FILE, createPasswords);
  const passwordByLogin = parsePasswords(text);
  return SEEDS.map((seed) => {
    const password = passwordByLogin.get(seed.login);
    if (password === undefined) throw unusableFile(directory.pathOf(PASSWORDS_FILE));
    return { ...seed, password };
  });
}

/**
 * Finds the user whose login and password are given.
 *
 * Takes the same time for a wrong password and for an unknown login. Does not limit attempts.
 *
 * @param login - Untrusted.
 * @param password - Untrusted; compared byte for byte.
 */
export function verifyPassword(
  users: readonly SeededUser[],
  login: string,
  password: string,
): SeededUser | undefined {
  const user = users.find((candidate) => candidate.login === login);
  const isRight = isSameText(password, user?.password ?? '');
  return isRight ? user : undefined;
}

/** The claims about a user, other than `sub` (OpenID Connect Core 1.0 section 5.1). */
export function claimsOf(user: SeededUser): Readonly<Record<string, string | boolean>> {
  const [givenName = user.name, familyName = ''] = user.name.split(' ');
  return {
    name: user.name,
    preferred_username: user.login,
    given_name: givenName,
    family_name: familyName,
    email: user.email,
    email_verified: true,
  };
}

/** Compares keyed digests, so that neither length nor content shows in the time it takes. */
function isSameText(left: string, right: string): boolean {
  const key = randomBytes(32);
  const digest = (text: string): Buffer => createHmac('sha256', key).update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}

function createPasswords(): string {
  return SEEDS.map(({ login }) => `${login} ${createPassword()}\n`).join('');
}

/** 16 characters of 5 bits each: 80 bits. A byte modulo 32 is not biased. */
function createPassword(): string {
  const characters = [...randomBytes(GROUPS * GROUP_LENGTH)].map(
    (byte) => ALPHABET[byte % ALPHABET.length],
  );
  const groups = Array.from({ length: GROUPS }, (_, index) =>
    characters.slice(index * GROUP_LENGTH, (index + 1) * GROUP_LENGTH).join(''),
  );
  return groups.join('-');
}

function parsePasswords(text: string): ReadonlyMap<string, string> {
  const entries = text
    .split('\n')
    .map((line) => /^(\S+) (\S+)\r?$/.exec(line))
    .flatMap((match): [string, string][] =>
      match?.[1] !== undefined && match[2] !== undefined ? [[match[1], match[2]]] : [],
    );
  return new Map(entries);
}
