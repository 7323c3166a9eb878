/**
 * Probes of the machine that a person signs in from.
 *
 * @module
 */

import { lstatSync, type Stats } from 'node:fs';
import { createServer } from 'node:net';
import { findPortHolder, type Keyring, loadClientSettings } from '@sallyport/client';
import { broken, type Finding, fail, found, type Probe, skipped, warn } from '@sallyport/doctor';
import type { Profiles } from '../profile/profiles.ts';
import { type Environment, listCredentialVariables } from '../profile/sources.ts';

/** What is looked at. */
export interface Machine {
  readonly environment: Environment;
  /** Folder of the token store; need not exist. */
  readonly tokens: string;
  /** Absent where the files of profiles cannot be read. */
  readonly profiles: Profiles | undefined;
  /** Port that the browser comes back to. */
  readonly port: number;
  /** Opens the keyring, where it is asked for. */
  readonly openKeyring: () => Pick<Keyring, 'probe' | 'close'>;
}

/** Port of the native app's redirect address (requirement, "IdP applications"). */
export const REDIRECT_PORT = 53_593;

/** Makes the probes of the group `machine`. Nothing is written; the port is listened on for a moment. */
export function createMachineProbes(machine: Machine): readonly Probe[] {
  const { environment, tokens, profiles, port, openKeyring } = machine;
  return [
    probe('port', `port ${port} for the browser to come back to`, async () => {
      const finding = await judgePort(port);
      return finding === undefined ? found(undefined) : broken(finding);
    }),
    probe('store', 'the folder of tokens', () => found(undefined, judgeFolder(tokens))),
    probe('keyring', 'the keyring', async () => {
      if (environment['SALLYPORT_TOKEN_STORE'] !== 'keyring')
        return skipped(
          'not used: tokens are kept in files unless SALLYPORT_TOKEN_STORE is keyring',
        );
      const { works, why } = await probeKeyring(openKeyring());
      return found(undefined, works ? [] : [toKeyringFinding(why)]);
    }),
    probe('proxy', 'the proxy of the environment', () => found(undefined, judgeProxy(environment))),
    probe('variables', 'credentials in the environment', () =>
      found(undefined, judgeVariables(environment)),
    ),
    probe('profiles', 'profiles', () =>
      profiles === undefined
        ? skipped('the file of profiles cannot be read')
        : found(undefined, judgeProfiles(profiles)),
    ),
  ];
}

function probe(name: string, title: string, run: Probe['run']): Probe {
  return { id: `machine.${name}`, group: 'machine', title, needs: [], run };
}

/** A browser may come by either address, so both have to be free; a machine without IPv6 has one. */
async function judgePort(port: number): Promise<Finding | undefined> {
  const taken: string[] = [];
  for (const host of ['127.0.0.1', '::1'])
    if ((await tryListening(host, port)) === 'EADDRINUSE') taken.push(host);
  if (taken.length === 0) return undefined;
  const holder = await findPortHolder(port);
  const by = holder === undefined ? 'another program' : `${holder.name} (process ${holder.pid})`;
  return fail(
    'redirect_port_taken',
    `${by} listens on port ${port}, to which the browser comes back from a sign-in`,
    'End that program, or finish its sign-in; or sign in with sallyport login --flow device',
    [`taken at ${taken.join(' and ')}`],
  );
}

function tryListening(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve('')));
  });
}

function judgeFolder(folder: string): readonly Finding[] {
  let stat: Stats;
  try {
    stat = lstatSync(folder);
  } catch {
    // It is made with the first sign-in.
    return [];
  }
  const others = stat.mode & 0o077;
  const uid = process.getuid?.();
  const what = stat.isSymbolicLink()
    ? 'is a symbolic link'
    : !stat.isDirectory()
      ? 'is no folder'
      : uid !== undefined && stat.uid !== uid
        ? `belongs to another user (uid ${stat.uid})`
        : uid !== undefined && others !== 0
          ? `is open to others (mode ${(stat.mode & 0o777).toString(8)})`
          : '';
  return what === ''
    ? []
    : [
        fail(
          'token_store_unsafe',
          `the folder of tokens ${folder} ${what}, so that no token is kept there`,
          `chmod 700 ${folder}; if others could read it, sign out and in again.`,
        ),
      ];
}

async function probeKeyring(
  keyring: Pick<Keyring, 'probe' | 'close'>,
): Promise<{ readonly works: boolean; readonly why: string }> {
  const probed = await keyring.probe().finally(() => keyring.close());
  return probed.ok ? { works: true, why: '' } : { works: false, why: probed.error };
}

function toKeyringFinding(why: string): Finding {
  return fail(
    'keyring_unusable',
    'the keyring that SALLYPORT_TOKEN_STORE names does not work here',
    'Unset SALLYPORT_TOKEN_STORE, or set it to file: tokens are then kept in files that only you can read.',
    [why],
  );
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1'];

/** Our commands never ask a proxy for this machine; browsers and the SDK of other languages may. */
function judgeProxy(environment: Environment): readonly Finding[] {
  const read = (name: string): string => environment[name] ?? environment[name.toUpperCase()] ?? '';
  if (read('http_proxy') === '') return [];
  const exceptions = read('no_proxy')
    .split(',')
    .map((entry) => entry.trim());
  const isExcepted = LOOPBACK_NAMES.some((name) => exceptions.includes(name));
  return exceptions.includes('*') || isExcepted
    ? []
    : [
        warn(
          'proxy_for_this_machine',
          'HTTP_PROXY is set and NO_PROXY does not except localhost: other clients send the answer of a sign-in to the proxy',
          'export NO_PROXY=localhost,127.0.0.1,::1 beside what it has',
        ),
      ];
}

function judgeVariables(environment: Environment): readonly Finding[] {
  const names = listCredentialVariables(environment);
  return names.length === 0
    ? []
    : [
        warn(
          'variable_overrides_login',
          `credentials of an application are in the environment and win over a person's sign-in: ${names.join(', ')}`,
          `unset ${names.join(' ')}, unless the application is meant`,
        ),
      ];
}

function judgeProfiles({ names, settingsOf }: Profiles): readonly Finding[] {
  const seen = new Map<string, string>();
  return names.flatMap((name) => {
    const loaded = loadClientSettings({
      file: settingsOf(name),
      env: {},
      flags: {},
      findsPerson: true,
    });
    if (!loaded.ok) return [];
    const { endpoint, clientId, authType } = loaded.value.settings;
    const key = JSON.stringify([endpoint?.origin, clientId, authType]);
    const other = seen.get(key);
    seen.set(key, other ?? name);
    return other === undefined
      ? []
      : [
          warn(
            'profiles_share_platform',
            `the profiles ${other} and ${name} sign in at the same platform in the same way: ${endpoint?.origin}`,
            `Remove one of them from the file of profiles; sallyport status shows them.`,
          ),
        ];
  });
}
