import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig } from '../load-config.ts';
import { formatConfigProblem } from '../problems.ts';

const ENV = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_BASE_URL: 'https://idp.example.com',
  OIDC_CLIENT_ID: 'web',
  CLI_CLIENT_ID: 'native',
  INTERNAL_CLIENT_ID: 'service',
};
const ADDRESSES = ['redis.example.com:6379'];

type Block = { readonly [name: string]: unknown };

/** What is said of `session.redis`, warnings marked; empty means nothing at all. */
function judge(redis: Block, store = 'redis'): string[] {
  const text = stringify({ session: { store, redis } });
  const result = loadConfig({ file: { path: 'c', text }, env: ENV, flags: {} }, 'serve');
  return result.ok
    ? result.value.warnings.map((warning) => `warning ${formatConfigProblem(warning)}`)
    : result.error.map(formatConfigProblem);
}

function load(redis: Block, store = 'redis') {
  const text = stringify({ session: { store, redis } });
  const result = loadConfig({ file: { path: 'c', text }, env: ENV, flags: {} }, 'serve');
  if (!result.ok) throw new Error(result.error.map(formatConfigProblem).join('\n'));
  return result.value;
}

describe('session.redis', () => {
  it('needs an address, and nothing else, for one server', () => {
    expect(judge({ addresses: ADDRESSES })).toEqual([]);
    expect(judge({})).toEqual([
      'c:3: session.redis.addresses: found nothing, expected at least one address, which session.store redis needs',
    ]);
  });

  it('takes one address for one server, and several for sentinels and clusters', () => {
    const addresses = [...ADDRESSES, 'redis-2.example.com:6379'];
    expect(judge({ mode: 'sentinel', sentinelMaster: 'sessions', addresses })).toEqual([]);
    expect(judge({ mode: 'cluster', addresses })).toEqual([]);
    expect(judge({ addresses })).toEqual([
      'c:4: session.redis.addresses: found 2 addresses, expected one, or mode sentinel or cluster: a standalone server is one server',
    ]);
  });

  it.each([
    ['redis:6379', true],
    ['redis-0.redis_headless.svc.cluster.local:6379', true],
    ['10.0.0.1:1', true],
    ['[::1]:65535', true],
    ['redis.example.com', false],
    ['redis.example.com:0', false],
    ['redis.example.com:65536', false],
    ['redis://redis.example.com:6379', false],
    ['ada:secret@redis.example.com:6379', false],
    ['::1:6379', false],
    ['[10.0.0.1]:6379', false],
    [':6379', false],
  ])('an address %s: taken %s', (address, isTaken) => {
    expect(judge({ addresses: [address] })).toHaveLength(isTaken ? 0 : 1);
  });

  it("needs the master's name with sentinels, and not without", () => {
    expect(judge({ mode: 'sentinel', addresses: ADDRESSES })).toEqual([
      "c:3: session.redis.sentinelMaster: found nothing, expected the master's name, which mode sentinel needs",
    ]);
    expect(judge({ mode: 'cluster', addresses: ADDRESSES })).toEqual([]);
  });

  it('has another database than 0 only outside a cluster', () => {
    expect(judge({ addresses: ADDRESSES, database: 7 })).toEqual([]);
    expect(judge({ mode: 'cluster', addresses: ADDRESSES, database: 7 })).toEqual([
      'c:7: session.redis.database: found 7, expected 0: a cluster has no other database',
    ]);
  });

  it('asks for the password of a user that is named', () => {
    const passwordLocation = '/etc/secrets/redis';
    const tls = { enabled: true };
    expect(judge({ addresses: ADDRESSES, username: 'ada', passwordLocation, tls })).toEqual([]);
    expect(judge({ addresses: ADDRESSES, username: 'ada', tls })).toEqual([
      "c:3: session.redis.passwordLocation: found nothing, expected a file that holds the user's password, which username needs",
    ]);
  });

  it.each([
    ['redis.example.com:6379', 1],
    ['10.0.0.1:6379', 1],
    ['localhost.example.com:6379', 1],
    ['localhost:6379', 0],
    ['127.0.0.1:6379', 0],
    ['[::1]:6379', 0],
  ])('a password without TLS to %s: %d warnings', (address, count) => {
    const passwordLocation = '/etc/secrets/redis';
    const said = judge({ addresses: [address], passwordLocation });
    expect(said).toHaveLength(count);
    for (const line of said) expect(line).toContain('warning c:3: session.redis.tls.enabled');
    expect(judge({ addresses: [address], passwordLocation, tls: { enabled: true } })).toEqual([]);
    expect(judge({ addresses: [address] })).toEqual([]);
  });

  it('has files of TLS only with TLS, and a certificate only with its key', () => {
    const files = { certFile: '/etc/tls/tls.crt', keyFile: '/etc/tls/tls.key' };
    const given = (tls: Block) => judge({ addresses: ADDRESSES, tls });
    expect(given({ enabled: true, ...files, caFile: '/etc/tls/ca.crt' })).toEqual([]);
    expect(given({ caFile: '/etc/tls/ca.crt' })).toEqual([
      'c:6: session.redis.tls.enabled: found false, expected true, or no session.redis.tls.caFile',
    ]);
    expect(given({ enabled: true, certFile: files.certFile })).toEqual([
      'c:6: session.redis.tls.keyFile: found nothing, expected a file, which session.redis.tls.certFile needs',
    ]);
    expect(given({ enabled: true, keyFile: files.keyFile })).toEqual([
      'c:6: session.redis.tls.certFile: found nothing, expected a file, which session.redis.tls.keyFile needs',
    ]);
  });

  it('asks for a replica by default where there are replicas', () => {
    const replicasOf = (redis: Block) => load(redis).config.session.redis.replicas;
    expect(replicasOf({ addresses: ADDRESSES })).toBe(0);
    expect(replicasOf({ mode: 'cluster', addresses: ADDRESSES })).toBe(1);
    expect(replicasOf({ mode: 'cluster', addresses: ADDRESSES, replicas: 0 })).toBe(0);
  });

  it('is listed as not used with the local store, where nothing of it is asked for', () => {
    expect(load({ mode: 'sentinel', database: 3 }, 'local').notUsedHere).toEqual(['session.redis']);
    expect(load({ addresses: ADDRESSES }).notUsedHere).toEqual([]);
  });
});
