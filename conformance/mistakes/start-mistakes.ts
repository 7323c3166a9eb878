/**
 * Mistakes that show on the terminal of the operator, or in the first lines of the log: settings, files, ports.
 *
 * @module
 */

import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { CommandHost } from '../cli/command-host.ts';
import { Browser } from '../wire/browser.ts';
import { startHostedService } from '../wire/platform.ts';
import { temporaryFolder } from '../wire/process.ts';
import { logOf, PATIENCE } from '../wire/workers.ts';
import {
  type Mistake,
  namesOf,
  noticesOf,
  replaceAll,
  type Said,
  type Volatile,
  writeLine,
  writePage,
} from './mistake.ts';

const COMMAND = new URL('../../packages/cli/bin/sallyport.js', import.meta.url).pathname;
const VARIABLES = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_BASE_URL: 'https://idp.example.com',
  OIDC_CLIENT_ID: 'web-app',
  CLI_CLIENT_ID: 'native-app',
};

/** A folder with a secret, which a row may spoil. */
interface Installation {
  readonly folder: string;
  readonly secretFile: string;
  readonly environment: Record<string, string>;
}

/** Where something listens, for a row that wants to listen there too. */
async function withTakenPort<T>(use: (port: number) => Promise<T>): Promise<T> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}

/** Rows that the command shows as it starts, or with `--check`. */
export function listStartMistakes(host: CommandHost): readonly Mistake[] {
  const run =
    (
      /** Returns further arguments, if a list. */
      spoil: (installation: Installation) => unknown,
      args: readonly string[] = ['serve', '--check'],
    ) =>
    async (): Promise<Said> => {
      const folder = mkdtempSync(join(tmpdir(), 'mistake-'));
      try {
        const secretFile = join(folder, 'oidc_client_secret');
        writeFileSync(secretFile, 'canary-secret', { mode: 0o600 });
        const environment: Record<string, string> = {
          ...VARIABLES,
          OIDC_CLIENT_SECRET_FILE: secretFile,
          SALLYPORT_STATE_DIRECTORY: join(folder, 'state'),
        };
        const given = spoil({ folder, secretFile, environment });
        const more = Array.isArray(given) ? (given as readonly string[]) : [];
        const ended = await host.run([...args, ...more], environment, folder);
        const said =
          ended.stderr.split('\n').find((line) => !line.includes('"level":"info"')) ?? '';
        if (`${ended.stdout}${ended.stderr}`.includes('canary'))
          throw new Error('the secret is shown');
        return { line: tidy(said, folder), page: '' };
      } finally {
        rmSync(folder, { recursive: true });
      }
    };
  const file =
    (text: string) =>
    ({ folder }: Installation): readonly string[] => {
      writeFileSync(join(folder, 'sallyport.yaml'), text);
      return ['--config', join(folder, 'sallyport.yaml')];
    };
  return [
    {
      name: 'The secret is not mounted',
      make: run(({ secretFile }) => rmSync(secretFile)),
    },
    {
      name: 'The secret is empty',
      make: run(({ secretFile }) => writeFileSync(secretFile, '')),
    },
    {
      name: 'The secret ends with a line feed, from an editor or `echo`',
      make: run(({ secretFile }) => writeFileSync(secretFile, 'canary-secret\n')),
    },
    {
      name: 'The secret can be read by every user of the machine',
      make: run(({ secretFile }) => chmodSync(secretFile, 0o644)),
    },
    {
      name: 'A relative path is meant from another folder',
      make: run(({ folder, environment }) => {
        delete environment['OIDC_CLIENT_SECRET_FILE'];
        const text = 'auth:\n  userAuth:\n    openId:\n      clientSecretFile: ./secrets/oidc\n';
        return file(text)({ folder, environment, secretFile: '' });
      }),
    },
    {
      name: 'A variable is mistyped',
      make: run(({ environment }) => {
        environment['SALLYPORT_LOGLEVEL'] = 'debug';
      }),
    },
    {
      name: 'A key of the file is mistyped',
      make: run(file('session:\n  idleTimout: 12h\n')),
    },
    {
      name: 'A secret stands in the place of a path',
      make: run(({ environment }) => {
        environment['OIDC_CLIENT_SECRET_FILE'] = 'canary-secret';
      }),
    },
    {
      name: 'The client ID of the web app is missing',
      make: run(({ environment }) => {
        delete environment['OIDC_CLIENT_ID'];
      }),
    },
    {
      name: 'The public URL is plain http',
      make: run(({ environment }) => {
        environment['PUBLIC_URL'] = 'http://platform.example.com';
      }),
    },
    {
      name: 'The issuer is plain http',
      make: run(({ environment }) => {
        environment['OIDC_BASE_URL'] = 'http://idp.example.com';
      }),
    },
    {
      name: 'The redirect origin is no origin',
      make: run(file('redirectOrigins: [https://other.example.com/path]\n')),
    },
    {
      name: 'The service app of the data plane is another one than that of the control plane',
      make: run(({ environment }) => {
        environment['INTERNAL_CLIENT_ID'] = 'service-app';
        environment['AUTH_CLIENT_ID'] = 'service-app-2';
      }),
    },
    {
      name: 'The configuration file is not there',
      make: run(({ folder }) => ['--config', join(folder, 'sallyport.yaml')]),
    },
    {
      name: 'The state folder cannot be made',
      make: () => serve({ SALLYPORT_STATE_DIRECTORY: '/proc/nope' }),
    },
    {
      name: 'The file of the key ring holds something else',
      make: () =>
        serve({}, [], (state) =>
          writeFileSync(join(state, 'key-ring.json'), 'no keys', { mode: 0o600 }),
        ),
    },
    {
      name: '`useAuth` is not true: browsers are redirected in a loop',
      make: () => serve({}, ['server:', '  security:', '    useAuth: false']),
    },
    {
      name: 'Redis does not run',
      make: () =>
        serve({}, ['session:', '  store: redis', '  redis:', '    addresses: ["127.0.0.1:9"]']),
    },
    {
      name: 'The state folder of `up` cannot be made',
      make: run(() => ['--state', '/proc/nope'], ['up']),
    },
    {
      name: 'The port is taken',
      make: () => withTakenPort((port) => run(() => ['--port', String(port)], ['serve'])()),
    },
    {
      name: 'The port of the metrics is taken',
      make: () =>
        withTakenPort((port) =>
          run(
            ({ environment }) => {
              environment['SALLYPORT_METRICS_PORT'] = String(port);
              return ['--port', '0'];
            },
            ['serve'],
          )(),
        ),
    },
    {
      name: 'The port of the identity provider of `up` is taken',
      make: () =>
        withTakenPort((port) =>
          run(
            ({ folder }) => ['--port', String(port - 1), '--state', join(folder, 'state')],
            ['up'],
          )(),
        ),
    },
    { name: 'A checkout is used before `npm ci`', make: startCheckout },
  ];
}

/** What a service says that starts all the same, and what it answers to a person who wants to sign in. */
async function serve(
  environment: Readonly<Record<string, string>>,
  file: readonly string[] = [],
  spoil: (state: string) => void = () => {},
): Promise<Said> {
  const folder = temporaryFolder();
  spoil(folder.path);
  const state = { SALLYPORT_STATE_DIRECTORY: folder.path };
  const service = await startHostedService({ ...state, ...environment }, [], undefined, file);
  try {
    const page = await new Browser().step(`${service.url}/login?redirect_url=%2F`);
    const notices = () => noticesOf(logOf(service.running));
    await expect.poll(() => notices().length, PATIENCE).toBeGreaterThan(0);
    const names: Volatile = [[folder.path, '/var/lib/sallyport'], ...namesOf(service)];
    return { line: writeLine(notices()[0] ?? {}, names), page: writePage(page, names) };
  } finally {
    await service.stop();
    folder.remove();
  }
}

/** Runs the command of a checkout that has no packages. */
async function startCheckout(): Promise<Said> {
  const folder = mkdtempSync(join(tmpdir(), 'mistake-'));
  const cli = join(folder, 'packages/cli');
  try {
    for (const name of ['bin', 'src']) mkdirSync(join(cli, name), { recursive: true });
    copyFileSync(COMMAND, join(cli, 'bin/sallyport.js'));
    writeFileSync(join(cli, 'package.json'), '{"type":"module"}');
    writeFileSync(join(cli, 'src/main.ts'), "import '@sallyport/protocol';\n");
    const child = spawn(process.execPath, [join(cli, 'bin/sallyport.js'), 'up']);
    let line = '';
    child.stderr.on('data', (chunk: Buffer) => {
      line += chunk.toString();
    });
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    if (code !== 1) throw new Error(`it ended with ${code}`);
    return { line: line.trim(), page: '' };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function tidy(line: string, folder: string): string {
  const text = line.startsWith('{') ? withoutTime(line) : line;
  return replaceAll(text, [
    [folder, '/etc/sallyport'],
    [/(?<=127\.0\.0\.1:|port )\d{2,5}/g, '8080'],
  ]);
}

function withoutTime(line: string): string {
  const { time: _, ...rest } = JSON.parse(line) as Record<string, unknown>;
  return JSON.stringify(rest);
}
