import { describe, expect, it } from 'vitest';
import { judgeServer, parseInfo } from './redis-server-check.ts';

const GOOD = {
  redis_version: '7.0.15',
  loading: '0',
  role: 'master',
  maxmemory_policy: 'noeviction',
  aof_enabled: '1',
};

function judge(changes: Readonly<Record<string, string | undefined>>, allows = false) {
  const entries = Object.entries({ ...GOOD, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return judgeServer(new Map(entries), allows);
}

describe('a Redis server', () => {
  it('that keeps everything is taken', () => {
    expect(judge({})).toEqual({ waitsForDisk: false, mayForget: false });
  });

  it.each(['allkeys-lru', 'volatile-lru', 'volatile-ttl', 'allkeys-random'])(
    'that evicts (%s) is unsuitable, and the error names its policy',
    (policy) => {
      expect(() => judge({ maxmemory_policy: policy })).toThrow(
        expect.objectContaining({ code: 'SP_STORE_UNSUITABLE' }),
      );
      expect(() => judge({ maxmemory_policy: policy })).toThrow(`noeviction (it is ${policy})`);
    },
  );

  it.each([undefined, '', 'NOEVICTION', 'canary\u001b[2J'])(
    'whose policy is not noeviction (%j) is unsuitable, and an unknown policy is not repeated',
    (policy) => {
      expect(() => judge({ maxmemory_policy: policy })).toThrow('(it is another)');
    },
  );

  it('without an append-only file is unsuitable, unless that is accepted', () => {
    for (const enabled of ['0', undefined]) {
      expect(() => judge({ aof_enabled: enabled })).toThrow('set its appendonly to yes');
      expect(judge({ aof_enabled: enabled }, true)).toEqual({
        waitsForDisk: false,
        mayForget: true,
      });
    }
  });

  it.each([
    ['6.2.0', true],
    ['6.2.14', true],
    ['7.0.15', true],
    ['10.0.0', true],
    ['255.255.255', true],
    ['6.0.20', false],
    ['5.9.9', false],
    ['2.8.0', false],
    ['six', false],
    ['', false],
  ])('of version %j is taken: %s', (version, isTaken) => {
    if (isTaken) expect(judge({ redis_version: version })).toBeDefined();
    else expect(() => judge({ redis_version: version })).toThrow('older than Redis 6.2');
  });

  it.each([
    ['7.2.0', '1', true],
    ['8.0.1', '1', true],
    ['7.0.15', '1', false],
    ['6.2.0', '1', false],
    ['7.2.0', '0', false],
  ])('of version %s with append-only file %s waits for its disk: %s', (version, aof, waits) => {
    expect(judge({ redis_version: version, aof_enabled: aof }, true).waitsForDisk).toBe(waits);
  });

  it.each([
    [{ role: 'slave' }, 'is a replica'],
    [{ role: undefined }, 'is a replica'],
    [{ loading: '1' }, 'is loading'],
  ])('that is none to ask at the moment (%j) is unavailable, not unsuitable', (change, detail) => {
    expect(() => judge(change)).toThrow(expect.objectContaining({ code: 'SP_STORE_UNAVAILABLE' }));
    expect(() => judge(change)).toThrow(detail);
  });
});

describe('INFO', () => {
  it('is read line by line, headings apart; of a repeated name the first counts', () => {
    const text =
      '# Server\r\nredis_version:7.0.15\r\n\r\n# Memory\r\nrole:master\r\nrole:slave\r\n:x\r\nnothing\r\n';
    expect([...parseInfo(text)]).toEqual([
      ['redis_version', '7.0.15'],
      ['role', 'master'],
    ]);
  });
});
