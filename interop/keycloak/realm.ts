/**
 * Realms of the Keycloak that all tests of a run share, and its admin interface.
 *
 * @module
 */

import { inject } from 'vitest';
import { run, type TemporaryFolder, temporaryFolder } from '../../conformance/wire/process.ts';
import type { RunningKeycloak } from '../../tools/keycloak/start-keycloak.ts';
import { requirePart } from '../parts.ts';
import { KEYCLOAK } from './keycloak-part.ts';

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A realm of the test's own. */
export interface Realm {
  readonly name: string;
  readonly issuer: string;
  /** Where `idp` writes. */
  readonly folder: string;
  /** Runs `sallyport idp` on it as the administrator. */
  idp(command: string, publicUrl: string, ...args: readonly string[]): Promise<Ended>;
  /** Runs it as someone else: with the variables, and with options that name the administrator. */
  idpAs(
    environment: Readonly<Record<string, string>>,
    command: string,
    publicUrl: string,
    ...args: readonly string[]
  ): Promise<Ended>;
  /** The words of that command, to be run otherwise. */
  words(command: string, publicUrl: string, ...args: readonly string[]): readonly string[];
  /** Asks the admin interface about the realm: a path below it. @throws When the answer is no success. */
  ask(path: string, method?: string, body?: object): Promise<unknown>;
  /** Everything in the realm, byte for byte as the admin interface writes it, sets in one order: settings, clients, scopes, people. */
  snapshot(): Promise<string>;
  /** A secret: no output may hold it. */
  readonly adminPassword: string;
  /** Adds {@link ADA}. Not with the realm: a person who is made with it lacks the realm's default roles. */
  addAda(): Promise<void>;
  remove(): Promise<void>;
}

/** What is in a realm from the start. */
export type RealmContent = Readonly<Record<string, unknown>>;

/** A person of the realm. */
export const ADA: { readonly username: string; readonly password: string } = {
  username: 'ada',
  password: 'ada-password-1',
};

const UNAUTHORIZED = 401;
let count = 0;
/** The administrator's, until it ends. */
let token = 'none';

/** Makes a realm; without content an empty one, as the administration page makes it. */
export async function makeRealm(content: RealmContent = {}): Promise<Realm> {
  const realm = await nameRealm();
  await askKeycloak('', 'POST', { realm: realm.name, enabled: true, ...content });
  return realm;
}

/** Asks the admin interface of the Keycloak: a path below `/admin/realms`. @throws When the answer is no success. */
export async function askKeycloak(path: string, method = 'GET', body?: object): Promise<unknown> {
  const keycloak = await findRunning();
  const send = (): Promise<Response> =>
    fetch(`${keycloak.url}/admin/realms${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  let response = await send();
  if (response.status === UNAUTHORIZED) {
    // Keycloak takes its time over a password.
    token = await takeToken(keycloak);
    response = await send();
  }
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Names a realm that is not there, with a folder for what `idp` writes. */
export async function nameRealm(): Promise<Realm> {
  const { url, adminPassword } = await findRunning();
  count += 1;
  const name = `realm-${process.pid}-${count}`;
  const issuer = `${url}/realms/${name}`;
  const folder: TemporaryFolder = temporaryFolder();
  const administrator = { SALLYPORT_IDP_ADMIN_PASSWORD: adminPassword };
  const ask: Realm['ask'] = (path, method, body) => askKeycloak(`/${name}${path}`, method, body);
  const words: Realm['words'] = (command, publicUrl, ...args) => [
    ...['idp', command, '--provider', 'keycloak', '--public-url', publicUrl],
    ...['--issuer', issuer, '--out', folder.path, ...args],
  ];
  return {
    name,
    issuer,
    folder: folder.path,
    adminPassword,
    idp: (...command) => run(words(...command), administrator),
    idpAs: (environment, ...command) => run(words(...command), environment),
    words,
    ask,
    async snapshot() {
      const parts = ['', '/clients?max=1000', '/client-scopes', '/users?max=1000', '/roles'];
      const texts = await Promise.all(
        parts.map(async (path) => JSON.stringify(await ask(path), sortSet, 1)),
      );
      return texts.join('\n');
    },
    async addAda() {
      const { username, password } = ADA;
      await ask('/users', 'POST', {
        username,
        enabled: true,
        email: 'ada@example.com',
        emailVerified: true,
        firstName: 'Ada',
        lastName: 'Lovelace',
        credentials: [{ type: 'password', value: password, temporary: false }],
      });
    },
    async remove() {
      await ask('', 'DELETE');
      folder.remove();
    },
  };
}

/** Lists of names are sets to Keycloak, which writes them in any order. */
function sortSet(_: string, value: unknown): unknown {
  const isSet = Array.isArray(value) && value.every((entry) => typeof entry === 'string');
  return isSet ? value.toSorted() : value;
}

async function findRunning(): Promise<RunningKeycloak> {
  requirePart(KEYCLOAK);
  const answer = await fetch(inject('sharedKeycloak'));
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as RunningKeycloak;
}

async function takeToken({ url, adminUser, adminPassword }: RunningKeycloak): Promise<string> {
  const response = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'password',
      client_id: 'admin-cli',
      username: adminUser,
      password: adminPassword,
    }),
  });
  return ((await response.json()) as { readonly access_token: string }).access_token;
}
