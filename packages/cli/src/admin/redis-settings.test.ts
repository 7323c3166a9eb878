import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RedisConfig } from '@sallyport/config';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { describe, expect, it } from 'vitest';
import { selectRedisSettings } from './redis-settings.ts';

const CONFIG: RedisConfig = {
  mode: 'standalone',
  addresses: ['redis.example.com:6379'],
  sentinelMaster: '',
  username: '',
  passwordLocation: '',
  sentinelPasswordLocation: '',
  tls: { enabled: false, caFile: '', certFile: '', keyFile: '', serverName: '' },
  database: 0,
  keyPrefix: 'sallyport',
  replicas: 0,
  commandTimeoutMs: 1_000,
  allowWithoutAppendOnlyFile: false,
};

function createFile(name: string, text: string): string {
  const folder = createTemporaryFolder();
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function select(changes: Partial<RedisConfig>) {
  const lines: string[] = [];
  const settings = selectRedisSettings({ ...CONFIG, ...changes }, (_, event, fields) =>
    lines.push(`${event} ${JSON.stringify(fields)}`),
  );
  return { settings, lines };
}

describe('the address of a Redis server', () => {
  it.each([
    ['redis.example.com:6379', 'redis.example.com', 6_379],
    ['10.0.0.1:7000', '10.0.0.1', 7_000],
    ['[2001:db8::1]:6379', '2001:db8::1', 6_379],
  ])('%s is split into host and port', (address, host, port) => {
    const { topology } = select({ addresses: [address] }).settings;
    expect(topology).toEqual({ mode: 'standalone', address: { host, port } });
  });

  it('stands for sentinels or servers of a cluster, by the mode', () => {
    const addresses = ['a.example.com:1', 'b.example.com:2'];
    const both = [
      { host: 'a.example.com', port: 1 },
      { host: 'b.example.com', port: 2 },
    ];
    const sentinel = select({ mode: 'sentinel', sentinelMaster: 'sessions', addresses });
    expect(sentinel.settings.topology).toMatchObject({
      mode: 'sentinel',
      master: 'sessions',
      sentinels: both,
    });
    const cluster = select({ mode: 'cluster', addresses });
    expect(cluster.settings.topology).toEqual({ mode: 'cluster', seeds: both });
  });
});

describe('the files of a Redis server', () => {
  it('are read again each time they are asked for, which is once a connection', () => {
    const passwordLocation = createFile('password', 'first-canary');
    const caFile = createFile('ca.crt', 'first authority\n');
    const { settings, lines } = select({
      passwordLocation,
      tls: { ...CONFIG.tls, enabled: true, caFile, serverName: 'redis.internal' },
    });
    expect(settings.access.password()).toBe('first-canary');
    expect(settings.access.tls?.()).toEqual({
      ca: 'first authority\n',
      servername: 'redis.internal',
    });
    writeFileSync(passwordLocation, 'second-canary');
    writeFileSync(caFile, 'second authority\n');
    expect(settings.access.password()).toBe('second-canary');
    expect(settings.access.tls?.().ca).toBe('second authority\n');
    // The log names the settings of the files, and nothing of what they hold.
    expect(lines).toEqual([
      expect.stringMatching(/^secret_loaded .*"key":"session\.redis\.passwordLocation"/),
      expect.stringMatching(/^secret_loaded .*"key":"session\.redis\.tls\.caFile"/),
    ]);
    expect(lines.join('')).not.toMatch(/canary|authority/);
  });

  it('that are gone later leave their last good content in use, and are reported without it', () => {
    const passwordLocation = createFile('password', 'first-canary');
    const { settings, lines } = select({ passwordLocation });
    rmSync(passwordLocation);
    expect(settings.access.password()).toBe('first-canary');
    expect(lines.join()).toContain('found no such file');
    expect(lines.join()).not.toContain('canary');
  });

  it('that are not named are not asked for', () => {
    const { access } = select({}).settings;
    expect(access.password()).toBe('');
    expect(access.tls).toBeUndefined();
  });

  it.each([
    [{ passwordLocation: '/nowhere/x' }, 'session.redis.passwordLocation'],
    [
      { mode: 'sentinel', sentinelMaster: 'm', sentinelPasswordLocation: '/nowhere/x' },
      'session.redis.sentinelPasswordLocation',
    ],
    [{ tls: { ...CONFIG.tls, enabled: true, caFile: '/nowhere/x' } }, 'session.redis.tls.caFile'],
    [{ tls: { ...CONFIG.tls, enabled: true, keyFile: '/nowhere/x' } }, 'session.redis.tls.keyFile'],
  ] as const)('that cannot be read at the start are named with their key: %j', (changes, key) => {
    expect(() => select(changes)).toThrow(
      expect.objectContaining({ code: 'SP_CONFIG_INVALID', component: 'store:redis' }),
    );
    expect(() => select(changes)).toThrow(`/nowhere/x: ${key}`);
  });
});
