import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../../conformance/wire/browser.ts';
import { exchange } from '../../conformance/wire/exchange.ts';
import { startPlane, startService } from '../../conformance/wire/platform.ts';
import { SESSION_COOKIE } from '../../conformance/wire/sign-in.ts';
import { type BuiltPackages, buildPackages } from './built-packages.ts';

describe('The command as it is published, with nothing beside it', () => {
  let built: BuiltPackages;

  beforeAll(async () => {
    built = await buildPackages();
  });
  afterAll(() => built.remove());

  it('says its version', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [built.command, '--version']);
    expect(stdout).toMatch(/\d+\.\d+\.\d+/);
  });

  it('needs no package to run, and offers the keyring alone as an optional one', () => {
    const manifest = JSON.parse(
      readFileSync(join(built.folder, 'packages/cli/package.json'), 'utf8'),
    );
    expect(manifest).not.toHaveProperty('dependencies');
    expect(manifest).not.toHaveProperty('devDependencies');
    expect(Object.keys(manifest.optionalDependencies)).toEqual(['@napi-rs/keyring']);
  });

  it('runs the whole plane: a browser signs in at the embedded identity provider', async () => {
    const plane = await startPlane([], { file: built.command });
    try {
      const browser = new Browser();
      expect(await plane.signIn(browser, '/')).toMatchObject({ status: 200 });
      const cookie = `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;
      expect(await exchange(`${plane.url}/me`, { headers: { cookie } })).toMatchObject({
        status: 200,
      });
      expect(await exchange(`${plane.url}/me`)).toMatchObject({ status: 401 });
    } finally {
      await plane.stop();
    }
  });

  it('serves with workers, which it starts from the same files, and ends with 0', async () => {
    const service = await startService({ SALLYPORT_WORKERS: '2' }, [], { file: built.command });
    try {
      const browser = new Browser();
      await service.signIn(browser);
      const cookie = `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;
      expect(await exchange(`${service.url}/me`, { headers: { cookie } })).toMatchObject({
        status: 200,
      });
      expect(await service.running.stop()).toBe(0);
    } finally {
      await service.stop();
    }
  });
});
