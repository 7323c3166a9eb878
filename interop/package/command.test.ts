import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../../conformance/wire/browser.ts';
import { exchange } from '../../conformance/wire/exchange.ts';
import { startPlane, startService } from '../../conformance/wire/platform.ts';
import { installedAt, type Place } from '../../conformance/wire/process.ts';
import { SESSION_COOKIE } from '../../conformance/wire/sign-in.ts';
import {
  type Installation,
  installTarballs,
  type PackedPackages,
  packPackages,
} from './packed-packages.ts';

const execute = promisify(execFile);

describe('The command as it is published, with nothing beside it', () => {
  let packed: PackedPackages;
  let installed: Installation;
  let place: Place;

  beforeAll(async () => {
    packed = await packPackages();
    installed = await installTarballs([packed.tarballs.get('sallyport') ?? ''], '--offline');
    place = installedAt(join(installed.folder, 'node_modules/sallyport/bin/sallyport.js'));
  });
  afterAll(() => installed.remove());

  it('is one package, which npm installs without asking a registry', () => {
    expect(readdirSync(join(installed.folder, 'node_modules')).toSorted()).toEqual([
      '.bin',
      '.package-lock.json',
      'sallyport',
    ]);
  });

  it('says its version, that of Node and the commit it was built from, and no path', async () => {
    const command = join(installed.folder, 'node_modules/.bin/sallyport');
    const { stdout } = await execute(command, ['--version'], {
      env: { PATH: dirname(process.execPath) },
    });
    const { stdout: head } = await execute('git', ['rev-parse', 'HEAD']);
    const [version, node, commit] = stdout.split('\n');
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(node).toBe(`Node ${process.version}`);
    expect(commit?.replace(/-modified$/, '')).toBe(`built from ${head.trim()}`);
    expect(stdout).not.toContain('/');
  });

  it('runs the whole plane: a browser signs in at the embedded identity provider', async () => {
    const plane = await startPlane([], { place });
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
    const service = await startService({ SALLYPORT_WORKERS: '2' }, [], { place });
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
