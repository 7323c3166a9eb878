/**
 * The pods of `sallyport up --platform`, as an operator sees and changes them: by their files, and by the page.
 *
 * @module
 */

import { mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { type Plane, startPlane } from '../wire/platform.ts';
import type { Surroundings } from '../wire/process.ts';

/** What the page says of one service. */
export interface Shown {
  readonly name: string;
  readonly state: 'starting' | 'calling' | 'failing' | 'waiting';
  readonly client: string;
  readonly token: string;
  readonly calls: string;
  /** How its peer answers without a token. */
  readonly bare: string;
  readonly error: string;
}

/** A line of a service's log. */
export type Line = Readonly<Record<string, unknown>>;

/** The running platform. */
export interface RunningPlatform extends Plane {
  /** All services, once each of those named is as asked for; without names all of them. */
  until(isSo: (shown: Shown) => boolean, names?: readonly string[]): Promise<Map<string, Shown>>;
  read(): Promise<Map<string, Shown>>;
  /** A file in the root of a service's file system. */
  fileOf(name: string, path: string): string;
  log(name: string): readonly Line[];
  /** Changes the configuration, which starts the service again. */
  configure(name: string, change: (text: string) => string): void;
  /** Puts a folder with these keys in place of a mounted Secret, or nothing, and starts the service again. */
  remount(name: string, path: string, keys: Readonly<Record<string, string>> | undefined): void;
  /** Undoes every `configure` and `remount`. Mounts come back without a new start. */
  putRight(): void;
}

/** A service whose secret the identity provider refused waits longer with each attempt. */
const PATIENCE_MS = 60_000;

/** Starts it, and waits until every service calls. */
export async function startPlatform(surroundings: Surroundings = {}): Promise<RunningPlatform> {
  const plane = await startPlane(['--platform'], surroundings);
  const folder = join(plane.state, 'platform');
  const token = await fetchToken(plane);
  const undone: (() => void)[] = [];
  const fileOf = (name: string, path: string): string => join(folder, 'pods', name, path);

  async function read(): Promise<Map<string, Shown>> {
    const answer = await fetch(`${plane.url}/platform.json`, {
      headers: { 'core-authorization': `Bearer ${token}` },
    });
    const { actors } = (await answer.json()) as { readonly actors: readonly Shown[] };
    return new Map(actors.map((shown) => [shown.name, shown]));
  }

  const platform: RunningPlatform = {
    ...plane,
    read,
    fileOf,
    until: (isSo, names) =>
      vi.waitFor(
        async () => {
          const shown = await read();
          const wrong = [...shown.values()].filter(
            (one) => (names ?? [...shown.keys()]).includes(one.name) && !isSo(one),
          );
          if (wrong.length > 0) throw new Error(`not so: ${JSON.stringify(wrong, undefined, 1)}`);
          return shown;
        },
        { timeout: PATIENCE_MS, interval: 250 },
      ),
    log: (name) =>
      readFileSync(join(folder, 'logs', `${name}.log`), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Line),
    configure(name, change) {
      const path = fileOf(name, 'config.yaml');
      const text = readFileSync(path, 'utf8');
      const changed = change(text);
      if (changed === text) throw new Error(`${name}: the change changes nothing`);
      writeFileSync(path, changed);
      undone.push(() => writeFileSync(path, text));
    },
    remount(name, path, keys) {
      const mount = fileOf(name, path);
      const target = readlinkSync(mount);
      rmSync(mount);
      if (keys !== undefined) mkdirSync(mount);
      for (const [key, text] of Object.entries(keys ?? {})) writeFileSync(join(mount, key), text);
      undone.push(() => {
        rmSync(mount, { recursive: true, force: true });
        symlinkSync(target, mount);
      });
      const config = fileOf(name, 'config.yaml');
      writeFileSync(config, `${readFileSync(config, 'utf8')}# changed\n`);
    },
    putRight() {
      for (const undo of undone.splice(0)) undo();
    },
  };
  await platform.until(({ state }) => state === 'calling');
  return platform;
}

async function fetchToken({ state, issuer }: Plane): Promise<string> {
  const deployment = readFileSync(join(state, 'deployment.env'), 'utf8');
  const url = /^AUTH_TOKEN_URL='([^']+)'$/m.exec(deployment)?.[1] ?? issuer;
  const secret = readFileSync(join(state, 'idp', 'service-client-secret'), 'utf8').trim();
  const basic = Buffer.from(`sallyport-service:${secret}`).toString('base64');
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'all' }),
  });
  return ((await answer.json()) as { readonly access_token: string }).access_token;
}
