import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { openTokenFile } from './token-file.ts';

const FOREIGN = 'hunter2';
let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-token-'));
  path = join(folder, 'token');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

const show = (): string => readFileSync(path, 'utf8');
const place = (text: string): void => writeFileSync(path, text, { mode: 0o600 });

async function open() {
  const file = await openTokenFile(path);
  onTestFinished(() => file.close());
  return file;
}

/** What a killed agent leaves: token and record, without its socket. */
async function leaveBehind(): Promise<void> {
  const file = await openTokenFile(path);
  file.write('first');
  file.write('second');
  const copy = mkdtempSync(join(tmpdir(), 'sallyport-left-'));
  const names = readdirSync(folder).filter((name) => /(?:^token|wrote)$/.test(name));
  for (const name of names) cpSync(join(folder, name), join(copy, name));
  await file.close();
  for (const name of names) cpSync(join(copy, name), join(folder, name));
  rmSync(copy, { recursive: true });
}

it('each token replaces the one before, and the end leaves nothing', async () => {
  const file = await openTokenFile(path);
  for (const text of ['one', 'two', 'three']) {
    file.write(text);
    expect(show()).toBe(text);
  }
  file.remove();
  expect(existsSync(path)).toBe(false);
  file.write('four');
  expect(show()).toBe('four');
  await file.close();
  expect(readdirSync(folder)).toEqual([]);
});

it('what a killed agent left is removed at the start', async () => {
  await leaveBehind();
  expect(show()).toBe('second');
  await open();
  expect(existsSync(path)).toBe(false);
});

it('a file of one word that no agent wrote is left alone at the start', async () => {
  place(FOREIGN);
  await expect(openTokenFile(path)).rejects.toMatchObject({ code: 'SP_STATE_UNUSABLE' });
  expect(show()).toBe(FOREIGN);
  expect(readdirSync(folder)).toEqual(['token']);
});

it('a password in the place of the token that a killed agent left is left alone', async () => {
  await leaveBehind();
  place(FOREIGN);
  await expect(openTokenFile(path)).rejects.toMatchObject({ code: 'SP_STATE_UNUSABLE' });
  expect(show()).toBe(FOREIGN);
});

it('a file that is no record of an agent is left alone', async () => {
  const record = join(folder, '.token.agent-wrote');
  writeFileSync(record, FOREIGN, { mode: 0o600 });
  await expect(openTokenFile(path)).rejects.toThrow(/not the record of an agent/);
  expect(readFileSync(record, 'utf8')).toBe(FOREIGN);
});

it.each(['in place', 'renamed'])(
  'another content while the agent runs is neither replaced nor removed: %s',
  async (how) => {
    const file = await openTokenFile(path);
    file.write('one');
    if (how === 'renamed') rmSync(path);
    place(FOREIGN);
    expect(() => file.write('two')).toThrow(/SP_STATE_UNUSABLE/);
    file.remove();
    expect(() => file.write('three')).toThrow(/SP_STATE_UNUSABLE/);
    await file.close();
    expect(show()).toBe(FOREIGN);
  },
);

it('an own token whose permissions were changed is replaced, with mode 0600', async () => {
  const file = await open();
  file.write('one');
  chmodSync(path, 0o640);
  file.write('two');
  expect(show()).toBe('two');
});
