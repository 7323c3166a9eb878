import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfigSources, formatConfigProblem, loadConfig } from '@sallyport/config';
import { createLocalSessionStore } from '@sallyport/server';
import type { LogFields } from '@sallyport/server/observe';
import { NOON } from '@sallyport/testing/cli/sessions';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkLocalStore, logLocalStore } from './local-store-folder.ts';

const ENV = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_BASE_URL: 'https://idp.example.com',
  OIDC_CLIENT_ID: 'web',
  CLI_CLIENT_ID: 'native',
};

function begin(stateDirectory: string) {
  const lines: (readonly [level: string, event: string, fields: LogFields | undefined])[] = [];
  const onOpening = logLocalStore({ stateDirectory }, (...line) =>
    lines.push([line[0], line[1], line[2]]),
  );
  return { lines, onOpening };
}

describe('A folder that cannot be made or written', () => {
  it('is reported once, with key, folder, code and remedy, however often it is tried; then that it can', async () => {
    const folder = join(createTemporaryFolder(), 'state');
    writeFileSync(folder, '');
    const { lines, onOpening } = begin(folder);
    let now = NOON;
    const path = join(folder, 'sessions.sqlite');
    const store = createLocalSessionStore({ path, now: () => now, onOpening });
    onTestFinished(() => store.close());
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(store.read(1)).rejects.toMatchObject({ code: 'SP_STORE_UNAVAILABLE' });
      now += 1_000;
    }
    expect(lines).toEqual([
      [
        'error',
        'session_store_unusable',
        {
          failure: expect.stringContaining('EEXIST'),
          key: 'stateDirectory',
          folder,
          detail:
            'make the folder, writable for the user of this process, or name another with SALLYPORT_STATE_DIRECTORY or stateDirectory',
        },
      ],
    ]);
    rmSync(folder);
    expect(await store.read(1)).toBeUndefined();
    expect(lines.slice(1)).toEqual([['info', 'session_store_connected', undefined]]);
  });

  it('of another user is reported with the code EACCES', () => {
    const { lines, onOpening } = begin('/var/lib/sallyport');
    onOpening(
      Object.assign(new Error("EACCES: permission denied, mkdir '/var/lib/sallyport'"), {
        code: 'EACCES',
      }),
    );
    expect(lines).toMatchObject([
      ['error', 'session_store_unusable', { failure: expect.stringContaining('Error EACCES: ') }],
    ]);
  });

  it('is reported again for another reason; a failure that is not about the folder has no such remedy', () => {
    const { lines, onOpening } = begin('/state');
    onOpening(Object.assign(new Error('no'), { code: 'ENOENT' }));
    onOpening(Object.assign(new Error('file is not a database'), { code: 'ERR_SQLITE_ERROR' }));
    expect(lines.map(([, event, fields]) => [event, fields?.['detail'] === undefined])).toEqual([
      ['session_store_unusable', false],
      ['session_store_unusable', true],
    ]);
  });
});

describe('A store that can be opened at once', () => {
  it('is not reported', async () => {
    const folder = join(createTemporaryFolder(), 'state');
    const { lines, onOpening } = begin(folder);
    const path = join(folder, 'sessions.sqlite');
    const store = createLocalSessionStore({ path, now: () => NOON, onOpening });
    onTestFinished(() => store.close());
    await store.read(1);
    expect(lines).toEqual([]);
  });
});

describe('The check of the folder', () => {
  function check(sources: Partial<ConfigSources>): readonly string[] {
    const loaded = loadConfig({ env: ENV, flags: {}, ...sources }, 'serve');
    if (!loaded.ok) throw new TypeError(loaded.error.map(formatConfigProblem).join());
    return checkLocalStore(loaded.value, sources.file?.path).map(formatConfigProblem);
  }

  it.each(['', 'state', 'state/of/this'])('finds nothing wrong with %j, and makes none', (name) => {
    const folder = createTemporaryFolder();
    expect(check({ flags: { stateDirectory: join(folder, name) } })).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(['file', 'file/in', 'file/in/it'])(
    'warns of %j where there is a file, with the code',
    (name) => {
      const folder = createTemporaryFolder();
      writeFileSync(join(folder, 'file'), '');
      const path = join(folder, name);
      const wrong = `stateDirectory (SALLYPORT_STATE_DIRECTORY): found ${JSON.stringify(path)}, which this user cannot make or write (ENOTDIR), expected a folder that the user of the service can write`;
      expect(check({ env: { ...ENV, SALLYPORT_STATE_DIRECTORY: path } })).toEqual([
        `environment: ${wrong}`,
      ]);
      expect(check({ flags: { stateDirectory: path } })).toEqual([`flag: ${wrong}`]);
      const file = { path: 'core.yaml', text: `stateDirectory: ${path}` };
      expect(check({ file })).toEqual([`core.yaml: ${wrong}`]);
    },
  );

  it('is none where no session is kept in it', () => {
    const folder = createTemporaryFolder();
    writeFileSync(join(folder, 'file'), '');
    mkdirSync(join(folder, 'keys'));
    const stateDirectory = join(folder, 'file');
    for (const text of [
      `session: {store: redis, redis: {addresses: ["127.0.0.1:1"]}, keyRingFile: ${folder}/keys/ring}`,
      'server: {security: {useAuth: false}}',
    ])
      expect(check({ file: { path: 'core.yaml', text }, flags: { stateDirectory } })).toEqual([]);
  });
});
