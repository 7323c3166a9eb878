/**
 * A machine with a released client on it: its configuration, keyring and browser, in one folder.
 *
 * @module
 */

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { CLIENT_FOLDER, type ClientHost } from './client-host.ts';
import { type CallAnswer, RUN_MS, type RunningClient, superviseClient } from './client-process.ts';
import type { SecurePlane } from './secure-plane.ts';

/** The clients, by what is installed under their names. */
export type ClientName = 'flytekit' | 'flyte';

/** The machine. */
export interface Workstation {
  /** Writes the client's configuration file: the requirement's `admin.*` fields. */
  configure(admin: Readonly<Record<string, string | boolean>>): void;
  /** Writes a file of the person's; gives its path. */
  write(name: string, content: string): string;
  start(client: ClientName, environment?: Readonly<Record<string, string>>): RunningClient;
  /** Makes calls in one process. */
  calls(client: ClientName, times: number): Promise<readonly CallAnswer[]>;
  /** Opens an address in the browser and waits for the end of the way. */
  browse(address: string): Promise<void>;
  /** Where the browser's ways ended, with their status. */
  visits(): readonly string[];
  /** The access token in the keyring; `undefined` when there is none. */
  keptAccessToken(): string | undefined;
  /** Puts another access token into the keyring, the rest stays. */
  keepAccessToken(accessToken: string): void;
  remove(): void;
}

const BROWSER = join(CLIENT_FOLDER, 'browser.py');
type Keyring = Record<string, Record<string, string>>;

/** Sets a machine up for `ada`. */
export function createWorkstation(host: ClientHost, plane: SecurePlane): Workstation {
  const folder = temporaryFolder();
  const [config, keyring, browserLog, password] = [
    'config.yaml',
    'keyring.json',
    'browser.log',
    'password',
  ].map((name) => join(folder.path, name)) as [string, string, string, string];
  writeFileSync(password, plane.password('ada'), { mode: 0o600 });
  const ownEnvironment = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder.path,
    PYTHONPATH: CLIENT_FOLDER,
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHON_KEYRING_BACKEND: 'file_keyring.FileKeyring',
    INTEROP_KEYRING_FILE: keyring,
    INTEROP_BROWSER_LOG: browserLog,
    INTEROP_LOGIN: 'ada',
    INTEROP_PASSWORD_FILE: password,
    // In the background, as a real browser: the client serves the redirect only afterwards.
    BROWSER: `${host.python} ${BROWSER} %s &`,
  };
  let processes = 0;

  const secrets = (): readonly string[] => [
    plane.password('ada'),
    readFileSync(plane.serviceSecretFile, 'utf8'),
    ...Object.values(readKeyring()).flatMap((entry) => Object.values(entry)),
    ...[keptAccessToken() ?? []].flat(),
  ];
  const readKeyring = (): Keyring =>
    existsSync(keyring) ? (JSON.parse(readFileSync(keyring, 'utf8')) as Keyring) : {};

  /** flytekit keeps the token by itself, flyte in a JSON text beside the refresh token. */
  function keptAccessToken(): string | undefined {
    const [entry = {}] = Object.values(readKeyring());
    if (entry['tokens'] === undefined) return entry['access_token'];
    return (JSON.parse(entry['tokens']) as { readonly access_token: string }).access_token;
  }

  function start(
    client: ClientName,
    environment: Readonly<Record<string, string>> = {},
  ): RunningClient {
    processes += 1;
    const child = host.start({
      script: join(CLIENT_FOLDER, `${client}_calls.py`),
      arguments: existsSync(config) ? [config] : [],
      folder: folder.path,
      environment: { ...ownEnvironment, ...environment },
      errors: join(folder.path, `stderr-${processes}`),
    });
    return superviseClient(child, secrets);
  }

  return {
    configure(admin) {
      const fields = {
        endpoint: `dns:///${plane.authority}`,
        insecure: false,
        caCertFilePath: plane.caFile,
        ...admin,
      };
      const lines = Object.entries(fields).map(([name, field]) => `  ${name}: ${field}\n`);
      writeFileSync(config, `admin:\n${lines.join('')}`);
    },
    write(name, content) {
      const path = join(folder.path, name);
      writeFileSync(path, content, { mode: 0o600 });
      return path;
    },
    start,
    async calls(client, times) {
      const running = start(client);
      const answers: CallAnswer[] = [];
      for (let count = 0; count < times; count += 1) answers.push(await running.call());
      await running.finish();
      return answers;
    },
    async browse(address) {
      const child = spawn(host.python, [BROWSER, address], {
        env: ownEnvironment,
        stdio: 'ignore',
      });
      const timer = setTimeout(() => child.kill('SIGKILL'), RUN_MS);
      await new Promise((resolve) => child.once('close', resolve));
      clearTimeout(timer);
    },
    visits: () =>
      existsSync(browserLog) ? readFileSync(browserLog, 'utf8').trimEnd().split('\n') : [],
    keptAccessToken,
    keepAccessToken(accessToken) {
      const all = readKeyring();
      const [[service, entry] = ['', {}]] = Object.entries(all);
      all[service] =
        entry['tokens'] === undefined
          ? { ...entry, access_token: accessToken }
          : {
              ...entry,
              tokens: JSON.stringify({ ...JSON.parse(entry['tokens']), access_token: accessToken }),
            };
      writeFileSync(keyring, JSON.stringify(all));
    },
    remove: () => folder.remove(),
  };
}
