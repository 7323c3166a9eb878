import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { writeCapability } from './capability.ts';

let path: string;

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-capability-'));
  path = join(folder, 'capability');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

it('replaces the capability that a killed agent left', () => {
  const left = writeCapability(path);
  const next = writeCapability(path);
  expect(next.value).not.toBe(left.value);
  expect(readFileSync(path, 'utf8')).toBe(`sallyport-capability: ${next.value}\n`);
  left.remove();
  expect(readFileSync(path, 'utf8')).toContain(next.value);
});

it.each([
  ['another text', 'a secret\n', 0o600],
  ['nothing', '', 0o600],
  ['a capability and more', `sallyport-capability: ${'a'.repeat(43)}\nmore\n`, 0o600],
  ['a capability that others may read', `sallyport-capability: ${'a'.repeat(43)}\n`, 0o644],
])('leaves a file alone that holds %s', (_, text, mode) => {
  writeFileSync(path, text, { mode });
  expect(() => writeCapability(path)).toThrow(/SP_STATE_UNUSABLE .*left alone/);
  expect(readFileSync(path, 'utf8')).toBe(text);
});
