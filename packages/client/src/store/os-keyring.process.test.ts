import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Keyring } from './keyring.ts';
import { createOsKeyring, type OsKeyringOptions } from './os-keyring.ts';

/** A keyring on the fake module; `limits` hears of each wait, and can end it. */
function create(fault?: string, options: OsKeyringOptions = {}) {
  const state = join(createTemporaryFolder(), 'keyring.json');
  const module = new URL('../../../testing/src/client/fake-keyring.ts', import.meta.url);
  module.searchParams.set('state', state);
  if (fault !== undefined) module.searchParams.set('fault', fault);
  const keyring = createOsKeyring({ module: module.href, ...options });
  onTestFinished(() => keyring.close());
  return { keyring, state };
}

/** Lets a process start, and ends the wait for its first answer at once. */
function giveUpCalls(): { limit: (ms: number) => AbortSignal; asked: number[] } {
  const asked: number[] = [];
  return {
    asked,
    limit(ms) {
      asked.push(ms);
      const controller = new AbortController();
      if (ms === 3_000) setImmediate(() => controller.abort());
      return controller.signal;
    },
  };
}

async function failureOf(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  return (await work.then(
    () => ({ code: 'none' }),
    (error: unknown) => error,
  )) as { code: string; message: string };
}

async function reasonOf(keyring: Keyring): Promise<string> {
  const probed = await keyring.probe();
  return probed.ok ? 'it works' : probed.error;
}

describe('Keyring of the system', () => {
  it('touches nothing before the first call', () => {
    const { state } = create('refuse');
    expect(existsSync(state)).toBe(false);
  });

  it('a probe round trip leaves nothing in it', async () => {
    const { keyring, state } = create();
    expect(await keyring.probe()).toEqual({ ok: true, value: undefined });
    expect(readFileSync(state, 'utf8')).toBe('{}');
  });

  it.each(['hang', 'hang_on_load'])(
    'a backend that never answers (%s) is given up after 3 seconds, and its process ended',
    async (fault) => {
      const { limit, asked } = giveUpCalls();
      const { keyring } = create(fault, { limit });
      const failure = await failureOf(keyring.read('one'));
      expect(failure.code).toBe('SP_TOKEN_STORE_UNUSABLE');
      expect(failure.message).toContain('no answer in time');
      expect(asked).toEqual([15_000, 3_000]);
    },
  );

  it('the verdict of the probe is remembered: a backend that hangs is waited for once', async () => {
    const { limit, asked } = giveUpCalls();
    const { keyring } = create('hang', { limit });
    expect(await reasonOf(keyring)).toContain('no answer in time');
    expect(await reasonOf(keyring)).toContain('no answer in time');
    expect(asked).toEqual([15_000, 3_000]);
  });

  it('a backend that ends its process is a failure, and the next call starts a new one', async () => {
    const { keyring } = create('end');
    expect((await failureOf(keyring.read('one'))).message).toContain('ended');
    expect((await failureOf(keyring.read('one'))).message).toContain('ended');
  });

  it('a backend that refuses is a failure in its own words, on one line', async () => {
    const { keyring } = create('refuse');
    expect((await failureOf(keyring.write('one', 'canary'))).message).toBe(
      'SP_TOKEN_STORE_UNUSABLE (token-store:keyring): the keyring cannot be used (Platform failure: no bus); unlock it, or choose the file store',
    );
  });

  it('a backend that does not keep what it was given fails the probe', async () => {
    expect(await reasonOf(create('forget').keyring)).toContain('does not give back');
  });

  it('a module that is not installed fails the probe', async () => {
    const keyring = createOsKeyring({ module: '@sallyport/no-such-module' });
    onTestFinished(() => keyring.close());
    expect(await reasonOf(keyring)).toContain('@sallyport/no-such-module');
  });

  it('of 10 calls at once each gets its own answer', async () => {
    const { keyring } = create();
    const accounts = Array.from({ length: 10 }, (_, index) => `account-${index}`);
    await Promise.all(accounts.map((account) => keyring.write(account, `value of ${account}`)));
    expect(await Promise.all(accounts.map((account) => keyring.read(account)))).toEqual(
      accounts.map((account) => `value of ${account}`),
    );
  });

  it('a call after the end of its process starts a new one', async () => {
    const { keyring } = create();
    await keyring.write('one', 'value');
    keyring.close();
    expect(await keyring.read('one')).toBe('value');
  });
});
