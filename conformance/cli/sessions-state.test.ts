import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from '../wire/browser.ts';
import { type Service, startHostedService } from '../wire/platform.ts';
import { temporaryFolder } from '../wire/process.ts';
import { askMe } from '../wire/sign-in.ts';
import { home, useHome } from './fixture.ts';
import { ADA, FIREFOX, idOf, signIn, variables } from './operator.ts';

useHome();

describe('sallyport sessions with another state than that of the server', () => {
  let service: Service;
  let ada: Browser;
  const folder = temporaryFolder();
  beforeAll(async () => {
    service = await startHostedService();
    ada = await signIn(service, ADA, FIREFOX);
  });
  afterAll(async () => {
    await service.stop();
    folder.remove();
  });

  const withRing = (ring: string | undefined): string => {
    const name = randomBytes(4).toString('hex');
    const ringFile = join(folder.path, `${name}.json`);
    if (ring !== undefined) writeFileSync(ringFile, ring, { mode: 0o600 });
    const file = join(folder.path, `${name}.yaml`);
    writeFileSync(file, `session:\n  keyRingFile: ${ringFile}\n`);
    return file;
  };
  const otherRing = JSON.stringify({
    keys: [
      {
        kid: 'AAAAAAAA',
        key: randomBytes(32).toString('base64url'),
        sealsFrom: '2020-01-01T00:00:00.000Z',
      },
    ],
  });

  it.each([
    ['is missing', undefined, 'there is no key ring'],
    ['is that of another deployment', otherRing, 'opens none of the 1 sessions'],
    ['is no key ring', '{"keys": "secret-canary"}', 'cannot be used'],
  ])(
    'a key ring that %s is reported with its name and code 1, and nothing is ended',
    async (_, ring, words) => {
      const file = withRing(ring);
      for (const args of [
        ['list'],
        ['list', '--subject', 'nobody'],
        ['revoke', idOf(ada)],
        ['revoke', '--subject', 'ada'],
        ['revoke', '--all', '--yes'],
      ]) {
        const ended = await home.run(['sessions', ...args, '--config', file], variables(service));
        expect([args, ended.code, ended.stdout]).toEqual([args, 1, '']);
        expect(ended.stderr).toContain(words);
        expect(ended.stderr).toContain(file.replace('.yaml', '.json'));
        expect(ended.stderr).toContain('SP_KEY_RING_UNUSABLE');
        expect(ended.stderr).not.toContain('secret-canary');
      }
      expect(existsSync(file.replace('.yaml', '.json'))).toBe(ring !== undefined);
      expect(await askMe(service, ada)).toBe(200);
    },
  );

  it('--json prints the failure as one document', async () => {
    const args = ['sessions', 'list', '--json', '--config', withRing(otherRing)];
    const { code, stdout } = await home.run(args, variables(service));
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: 'SP_KEY_RING_UNUSABLE' });
  });

  it('a state directory without a store is reported with code 1, and no store is made in it', async () => {
    const state = join(folder.path, 'empty');
    mkdirSync(state);
    writeFileSync(join(state, 'key-ring.json'), otherRing, { mode: 0o600 });
    const args = ['sessions', 'list', '--state', state];
    const { code, stdout, stderr } = await home.run(args, {
      ...variables(service),
      SALLYPORT_STATE_DIRECTORY: '',
    });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`there is no session store ${state}`);
    expect(existsSync(join(state, 'sessions.sqlite'))).toBe(false);
  });

  it('a configuration that the server would refuse is refused', async () => {
    const { code, stderr } = await home.run(['sessions', 'list'], {
      ...variables(service),
      PUBLIC_URL: 'not a url',
    });
    expect(code).toBe(1);
    expect(stderr).toContain('publicUrl');
  });

  it('a store that cannot be read is reported with code 1, and revoke names the sessions that it did not touch', async () => {
    // The last test of this server.
    await service.running.stop();
    const path = join(service.state, 'sessions.sqlite');
    for (const side of ['-wal', '-shm']) rmSync(path + side, { force: true });
    writeFileSync(path, 'not a database at all'.repeat(300));
    const listed = await home.run(['sessions', 'list'], variables(service));
    const revoked = await home.run(
      ['sessions', 'revoke', idOf(ada), 'AAAAAAAA', '--json'],
      variables(service),
    );
    expect([listed.code, listed.stdout]).toEqual([1, '']);
    expect(listed.stderr).toContain('SP_STORE_UNAVAILABLE');
    expect(revoked.code).toBe(1);
    expect(JSON.parse(revoked.stdout)).toMatchObject({
      ok: false,
      error: 'SP_STORE_UNAVAILABLE',
      ended: [],
      untouched: [idOf(ada), 'AAAAAAAA'],
    });
  });
});
