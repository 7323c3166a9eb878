/**
 * A Keycloak for the tests: fetched and built once, then kept outside the checkout.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { cacheFolder } from '../cluster/go-tools.ts';

/** Release, and the SHA-256 of its archive. */
const VERSION = '26.4.5';
const SHA256 = '72f73642a2c36de797d51b4b2b342d4a49f6e5832af10aa470cd123627bd80b3';

const FETCH_MS = 300_000;
const BUILD_MS = 300_000;
const run = promisify(execFile);

/** Where it is kept. */
export function keptFolder(): string {
  return join(cacheFolder(), `keycloak-${VERSION}`);
}

/** Folder of the Keycloak that is kept; undefined where there is none yet. */
export function findKeptKeycloak(): string | undefined {
  const kept = keptFolder();
  return existsSync(kept) ? kept : undefined;
}

/**
 * Gives the folder of a Keycloak that is built for a database in memory; makes it where it is missing.
 *
 * @throws When it cannot be fetched or built, or its archive is not the pinned one.
 */
export async function keepKeycloak(): Promise<string> {
  const found = findKeptKeycloak();
  if (found !== undefined) return found;
  const cache = cacheFolder();
  const kept = keptFolder();
  mkdirSync(cache, { recursive: true });
  // Another run may make it at the same time: each makes its own, and the first one to be ready is kept.
  const draft = mkdtempSync(join(cache, 'keycloak-draft-'));
  try {
    const archive = `keycloak-quarkus-dist-${VERSION}.zip`;
    const artifact = `org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`;
    await run(
      'mvn',
      ['-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${draft}`],
      { timeout: FETCH_MS },
    );
    await assertPinned(join(draft, archive));
    await run('python3', ['-m', 'zipfile', '-e', join(draft, archive), draft]);
    const folder = join(draft, `keycloak-${VERSION}`);
    await run('bash', [join(folder, 'bin', 'kc.sh'), 'build', '--db=dev-mem'], {
      timeout: BUILD_MS,
    });
    try {
      renameSync(folder, kept);
    } catch (error) {
      if (!existsSync(kept)) throw error;
    }
    return kept;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function assertPinned(file: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const found = hash.digest('hex');
  if (found !== SHA256) throw new Error(`${file} has the SHA-256 ${found}, expected ${SHA256}`);
}
