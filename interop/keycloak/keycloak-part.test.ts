import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TemporaryFolder, temporaryFolder } from '../../conformance/wire/process.ts';
import { findKeptKeycloak, keptFolder } from '../../tools/keycloak/keycloak-folder.ts';
import { requirePart } from '../parts.ts';
import { findKeycloak } from './keycloak-part.ts';

const CHANGED = ['PATH', 'SALLYPORT_TOOLS_CACHE', 'CI'];

describe('The Keycloak of the tests, where nothing is installed', () => {
  let folder: TemporaryFolder;
  let before: readonly (readonly [string, string | undefined])[];
  beforeEach(() => {
    folder = temporaryFolder();
    before = CHANGED.map((name) => [name, process.env[name]] as const);
    process.env['PATH'] = folder.path;
    process.env['SALLYPORT_TOOLS_CACHE'] = join(folder.path, 'cache');
    delete process.env['CI'];
  });
  afterEach(() => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    folder.remove();
  });
  const install = (name: string) => symlinkSync(process.execPath, join(folder.path, name));

  it('without Java is left out, and the reason is Java', async () => {
    const part = await findKeycloak();
    expect(part.isLeftOut).toBe(true);
    expect(() => requirePart(part)).toThrow('keycloak is missing: java is not on PATH');
  });

  it('with Java and without Maven is left out where no run has kept one', async () => {
    install('java');
    install('python3');
    const part = await findKeycloak();
    expect(part.isLeftOut).toBe(true);
    expect(() => requirePart(part)).toThrow(
      'keycloak is missing: no run has kept one, and mvn to fetch it is not on PATH',
    );
  });

  it('is not left out in CI, where it is missed', async () => {
    process.env['CI'] = 'true';
    const part = await findKeycloak();
    expect(part.isLeftOut).toBe(false);
    expect(() => requirePart(part)).toThrow('keycloak is missing');
  });

  it('with Java and one that a run has kept needs no Maven', async () => {
    install('java');
    expect(findKeptKeycloak()).toBeUndefined();
    mkdirSync(keptFolder(), { recursive: true });
    expect(await findKeycloak()).toMatchObject({ path: keptFolder(), isLeftOut: false });
  });
});
