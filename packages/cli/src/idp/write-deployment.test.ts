import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createDeploymentSpec } from '@sallyport/idp/provision';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { describe, expect, it } from 'vitest';
import { writeDeployment } from './write-deployment.ts';

const PUBLIC_URL = 'https://platform.example.com';
const IDS = { web: 'web', native: 'cli', service: 'service' };
const FURTHER = ['sync', '../../sync', '..', 'a/b'];
const SECRETS = new Map(
  [IDS.web, IDS.service, ...FURTHER].map((clientId) => [clientId, `secret of ${clientId}`]),
);

function write(folder: string, manifests = false) {
  const spec = createDeploymentSpec(PUBLIC_URL, IDS, { furtherServices: FURTHER });
  const setup = { spec, publicUrl: PUBLIC_URL, issuer: 'https://idp.example.com', folder };
  return writeDeployment(setup, 'https://idp.example.com/token', SECRETS, {
    manifests,
    controlPlaneSecret: 'control-plane-services',
  });
}

const filesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .toSorted();
const COMPONENTS = [
  'services/%2E%2E%2F..%2Fsync/client_secret',
  'services/%2E%2E/client_secret',
  'services/a%2Fb/client_secret',
  'services/sync/client_secret',
];

describe('What a setup leaves on this machine', () => {
  it('is in its folder and nowhere else, whatever a client ID holds', () => {
    const folder = join(createTemporaryFolder(), 'a/b/c');
    write(folder);
    const root = dirname(dirname(dirname(folder)));
    for (const file of filesOf(root)) expect(file).toMatch(/^a\/b\/c\//);
    expect(filesOf(folder)).toEqual(expect.arrayContaining(COMPONENTS));
    for (const file of filesOf(folder))
      expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  });

  it('as manifests still holds the secret of each single component, as a file', () => {
    const folder = join(createTemporaryFolder(), 'out');
    write(folder, true);
    expect(filesOf(folder)).toEqual(['deployment.env', 'secrets.yaml', ...COMPONENTS].toSorted());
    expect(readFileSync(join(folder, 'services/sync/client_secret'), 'utf8')).toBe(
      'secret of sync',
    );
    expect(readFileSync(join(folder, 'secrets.yaml'), 'utf8')).not.toContain('secret of sync');
  });

  it('takes the place of a link, and leaves alone what that leads to', () => {
    const folder = join(createTemporaryFolder(), 'out');
    const victim = join(dirname(folder), 'victim');
    writeFileSync(victim, 'mine');
    mkdirSync(folder);
    symlinkSync(victim, join(folder, 'deployment.env'));
    write(folder);
    expect(readFileSync(victim, 'utf8')).toBe('mine');
    expect(lstatSync(join(folder, 'deployment.env')).isFile()).toBe(true);
  });

  it('is written anew where others can read it, and is the same otherwise', () => {
    const folder = join(createTemporaryFolder(), 'out');
    write(folder);
    const secret = join(folder, 'services/sync/client_secret');
    chmodSync(secret, 0o644);
    const states = new Map(write(folder).map(({ file, state }) => [file, state]));
    expect(states.get('services/sync/client_secret')).toBe('written');
    expect(states.get('deployment.env')).toBe('unchanged');
    expect(statSync(secret).mode & 0o777).toBe(0o600);
  });

  it('is refused below a folder of its own that others may write to, also behind a link', () => {
    const folder = join(createTemporaryFolder(), 'out');
    const open = join(dirname(folder), 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    mkdirSync(folder);
    symlinkSync(open, join(folder, 'cloud'));
    expect(() => write(folder)).toThrow('others may write to');
    expect(filesOf(open)).toEqual([]);
  });
});
