/**
 * A running Keycloak with a database in memory.
 *
 * @module
 */

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { keepKeycloak } from './keycloak-folder.ts';

/** A Keycloak, and its administrator. */
export interface RunningKeycloak {
  /** Without a slash at its end; also the first part of every issuer. */
  readonly url: string;
  readonly adminUser: string;
  readonly adminPassword: string;
}

const START_MS = 180_000;
const STARTED = /started in [\d.]+s/;

/**
 * Starts it on a free port of the loopback.
 *
 * @returns It, and how to end it.
 */
export async function startKeycloak(): Promise<
  RunningKeycloak & { readonly stop: () => Promise<void> }
> {
  const folder = await keepKeycloak();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const adminUser = 'admin';
  const adminPassword = randomBytes(18).toString('base64url');
  const child = spawn(
    'bash',
    [
      join(folder, 'bin', 'kc.sh'),
      'start',
      '--optimized',
      '--cache=local',
      '--http-enabled=true',
      '--http-host=127.0.0.1',
      `--http-port=${port}`,
      `--hostname=${url}`,
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: the script may leave its Java behind.
      detached: true,
      env: {
        ...process.env,
        KC_BOOTSTRAP_ADMIN_USERNAME: adminUser,
        KC_BOOTSTRAP_ADMIN_PASSWORD: adminPassword,
        // Compiles less: it lives for minutes.
        JAVA_OPTS_APPEND: '-XX:TieredStopAtLevel=1',
      },
    },
  );
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  process.once('exit', end);
  const { promise: started, resolve, reject } = Promise.withResolvers<void>();
  let log = '';
  const read = (chunk: Buffer): void => {
    log += chunk.toString();
    if (STARTED.test(log)) resolve();
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  child.once('error', reject);
  const ended = new Promise<void>((resolveEnd) => {
    child.once('close', () => {
      resolveEnd();
      reject(new Error(`Keycloak ended\n${log}`));
    });
  });
  const timer = setTimeout(() => reject(new Error(`Keycloak is not ready\n${log}`)), START_MS);
  try {
    await started;
  } catch (error) {
    end();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return {
    url,
    adminUser,
    adminPassword,
    async stop() {
      end();
      await ended;
      process.off('exit', end);
    },
  };
}
