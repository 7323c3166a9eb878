import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { lockState } from './state-lock.ts';

function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'state-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it('a state folder is for one plane at a time, and the second is reported', () => {
  const folder = stateFolder();
  const giveBack = lockState(folder);
  onTestFinished(giveBack);
  expect(() => lockState(folder)).toThrow(/SP_STATE_IN_USE.*--state/);
});

it('a folder that was given back can be taken again, and another one at any time', () => {
  const folder = stateFolder();
  lockState(folder)();
  const giveBack = lockState(folder);
  expect(() => lockState(stateFolder())()).not.toThrow();
  giveBack();
});
