/**
 * A folder that is gone when the test is over.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Makes an empty folder for the running test. */
export function createTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
