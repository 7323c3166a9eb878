import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { SecretFinding } from './client-secret-file.ts';
import { formatConfigProblem } from './problems.ts';

const PROGRAM = new URL('../../testing/src/config/read-as-other-user.ts', import.meta.url);

/** What a user says who may read neither root's files nor those with mode 0. */
async function readAsOther(path: string): Promise<SecretFinding | 'read'> {
  const child = fork(PROGRAM, { execArgv: ['--conditions=source'] });
  await once(child, 'message');
  child.send({ path, key: 'admin.clientSecretLocation' });
  const [said] = (await once(child, 'message')) as [SecretFinding | 'read'];
  return said;
}

it.skipIf(process.getuid === undefined)(
  'a client secret that this user may not read is named with user, mode and owner; one that it may read is read',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'unreadable-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    chmodSync(folder, 0o755);
    const path = join(folder, 'client_secret');
    writeFileSync(path, 'c4n4ry');
    chmodSync(path, 0);
    const own = process.getuid?.() ?? 0;
    const reader = own === 0 ? 65_534 : own;
    const said = await readAsOther(path);
    expect(said === 'read' ? said : formatConfigProblem(said)).toBe(
      `${path}: admin.clientSecretLocation (client_secret): found a file that this user may not read (uid ${reader}; mode 0 of uid ${own}), expected one that it may read: the fsGroup of the pod, or the defaultMode of the volume, allows it`,
    );
    chmodSync(path, 0o444);
    expect(await readAsOther(path)).toBe('read');
  },
);
