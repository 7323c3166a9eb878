/**
 * A desktop session's keyring of its own: a bus and GNOME's keyring daemon, unlocked, in a folder.
 *
 * @module
 */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

/** A running Secret Service. */
export interface SecretService {
  /** For `DBUS_SESSION_BUS_ADDRESS`. */
  readonly busAddress: string;
  /** Starts the keyring's daemon again with an empty keyring if it has ended by itself. */
  recover(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts both; the keyring's password is empty of meaning, its folder goes with it. */
export async function startSecretService(
  dbusDaemon: string,
  keyringDaemon: string,
): Promise<SecretService> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-keyring-'));
  const bus = spawn(dbusDaemon, ['--session', '--nofork', '--print-address'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const busAddress = await firstLine(bus);
  const open = async (attempts = 3): Promise<ChildProcess> => {
    const home = mkdtempSync(join(folder, 'home-'));
    const opened = spawn(keyringDaemon, ['--foreground', '--unlock', '--components=secrets'], {
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        XDG_RUNTIME_DIR: home,
        DBUS_SESSION_BUS_ADDRESS: busAddress,
      },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    opened.stdin?.end('password of this test');
    while (!(await hasSecrets(busAddress)))
      if (hasEnded(opened)) {
        if (attempts > 1) return open(attempts - 1);
        throw new Error('the keyring daemon ended');
      }
    return opened;
  };
  let keyring = await open();
  return {
    busAddress,
    async recover() {
      if (hasEnded(keyring)) keyring = await open();
    },
    async stop() {
      for (const child of [keyring, bus]) await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const run = promisify(execFile);

/** Whether the daemon has its name on the bus; a question to the bus alone, which would start another daemon. */
async function hasSecrets(busAddress: string): Promise<boolean> {
  const { stdout } = await run('dbus-send', [
    `--bus=${busAddress}`,
    '--print-reply',
    '--dest=org.freedesktop.DBus',
    '/org/freedesktop/DBus',
    'org.freedesktop.DBus.NameHasOwner',
    'string:org.freedesktop.secrets',
  ]);
  return stdout.includes('boolean true');
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('its output is not piped');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return line;
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
