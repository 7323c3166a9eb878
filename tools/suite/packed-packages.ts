/**
 * One build of what is published for all tests of a run that ask for it: the first request starts it.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { CHECKOUT } from '../build/layout.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers with the folder of the build, or with 500 and the reason why there is none. */
    readonly packedPackages: string;
  }
}

const BUILD = join(CHECKOUT, 'tools/build.ts');
const run = promisify(execFile);

/** Listens for the tests. Vitest calls it by this name, once before the files of a project (`globalSetup`). */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let built: Promise<string> | undefined;
  const server = createServer((_, res) => {
    built ??= build();
    built.then(
      (folder) => res.end(folder),
      (error: unknown) => res.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project.provide('packedPackages', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    server.closeAllConnections();
    const folder = await built?.catch(() => undefined);
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
}

async function build(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-packed-'));
  try {
    await run(process.execPath, [BUILD, '--out', folder, '--pack']);
    return folder;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}
