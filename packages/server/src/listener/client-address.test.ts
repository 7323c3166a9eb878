import { anyText } from '@sallyport/testing/arbitraries/any-text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressBlock, createClientAddress } from './client-address.ts';

const RUNS = process.env['CI'] === undefined ? 1_000 : 10_000;

describe('without trusted proxies', () => {
  const address = createClientAddress([]);

  it.each(['203.0.113.9', '127.0.0.1', '::1, 203.0.113.9', '', 'unknown'])(
    'a forwarded header changes nothing: %j',
    (forwarded) => {
      expect(address('192.0.2.1', forwarded)).toBe('192.0.2.1');
      expect(address('2001:db8::1', forwarded)).toBe('2001:db8::1');
    },
  );

  it('shows an IPv4 peer of a dual-stack listener as IPv4', () => {
    expect(address('::ffff:192.0.2.1', undefined)).toBe('192.0.2.1');
    expect(address('::FFFF:192.0.2.1', undefined)).toBe('192.0.2.1');
  });

  it('knows no address of a connection that is gone', () => {
    expect(address(undefined, undefined)).toBe('');
    expect(address(undefined, '203.0.113.9')).toBe('');
  });
});

describe('with a trusted Unix socket', () => {
  const address = createClientAddress(['unix', '10.0.0.0/8']);

  it('believes the peer that has no address, and further proxies by theirs', () => {
    expect(address(undefined, '203.0.113.9')).toBe('203.0.113.9');
    expect(address(undefined, '203.0.113.9, 10.0.0.1')).toBe('203.0.113.9');
    expect(address(undefined, '198.51.100.1, 203.0.113.9')).toBe('203.0.113.9');
    expect(address(undefined, 'unix')).toBe('');
    expect(address(undefined, undefined)).toBe('');
  });

  it('believes no other peer for it, and no hop that leaves out its address', () => {
    expect(address('192.0.2.1', '203.0.113.9')).toBe('192.0.2.1');
    expect(address(undefined, '198.51.100.1, , 203.0.113.9')).toBe('203.0.113.9');
    expect(address(undefined, '198.51.100.1, ')).toBe('');
  });
});

describe('with trusted proxies', () => {
  const address = createClientAddress([
    '10.0.0.0/8',
    '192.0.2.7',
    '2001:db8:1::/48',
    '2001:db8:2::7',
  ]);

  it.each([
    ['10.1.2.3', '203.0.113.9', '203.0.113.9', 'one proxy'],
    ['10.1.2.3', '203.0.113.9, 10.9.9.9', '203.0.113.9', 'a chain of proxies'],
    ['10.1.2.3', '1.1.1.1, 203.0.113.9', '203.0.113.9', 'what the client wrote itself'],
    [
      '10.1.2.3',
      '1.1.1.1, 203.0.113.9, 10.9.9.9',
      '203.0.113.9',
      'what the client wrote itself, behind a chain',
    ],
    ['10.1.2.3', '10.5.5.5', '10.5.5.5', 'a client inside the trusted range'],
    ['10.1.2.3', undefined, '10.1.2.3', 'no header'],
    ['10.1.2.3', '', '10.1.2.3', 'an empty header'],
    ['10.1.2.3', 'unknown', '10.1.2.3', 'no address'],
    ['10.1.2.3', '203.0.113.9, unknown', '10.1.2.3', 'an unknown last hop'],
    ['10.1.2.3', 'unknown, 203.0.113.9', '203.0.113.9', 'an unknown first hop'],
    ['10.1.2.3', '203.0.113.9:4711', '203.0.113.9', 'an address with a port'],
    ['10.1.2.3', '1.1.1.1, 203.0.113.9:4711, 10.9.9.9:80', '203.0.113.9', 'a chain with ports'],
    ['10.1.2.3', '[2001:db8::9]:4711', '2001:db8::9', 'an IPv6 address with a port'],
    ['10.1.2.3', '[2001:db8::9]', '2001:db8::9', 'an IPv6 address in brackets'],
    ['10.1.2.3', '203.0.113.9:', '10.1.2.3', 'an address with an empty port'],
    ['10.1.2.3', '203.0.113.9:x', '10.1.2.3', 'an address with a port that is none'],
    ['10.1.2.3', '203.0.113.9,', '10.1.2.3', 'an empty last hop'],
    ['10.1.2.3', ' 203.0.113.9 ', '203.0.113.9', 'blanks'],
    ['10.1.2.3', '::ffff:203.0.113.9', '203.0.113.9', 'a mapped hop'],
    ['::ffff:10.1.2.3', '203.0.113.9', '203.0.113.9', 'a mapped proxy'],
    ['10.1.2.3', '203.0.113.9, ::ffff:10.9.9.9', '203.0.113.9', 'a mapped proxy in the chain'],
    ['192.0.2.7', '203.0.113.9', '203.0.113.9', 'a single trusted address'],
    ['192.0.2.8', '203.0.113.9', '192.0.2.8', 'its neighbour'],
    ['11.0.0.1', '203.0.113.9', '11.0.0.1', 'an address outside the range'],
    ['2001:db8:1:ffff::1', '2001:db8:9::1', '2001:db8:9::1', 'an IPv6 range'],
    ['2001:db8:2::7', '203.0.113.9', '203.0.113.9', 'a single trusted IPv6 address'],
    ['2001:db8:2::8', '203.0.113.9', '2001:db8:2::8', 'its neighbour'],
    [undefined, '203.0.113.9', '', 'a connection that is gone'],
  ] as readonly (readonly [string | undefined, string | undefined, string, string])[])(
    '%s saying %j is %s (%s)',
    (peer, forwarded, client) => {
      expect(address(peer, forwarded)).toBe(client);
    },
  );

  it('never throws, and never believes a peer it does not trust', () => {
    const ip = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.ipV4().map((v4) => `::ffff:${v4}`),
      fc.ipV6().map((v6) => `${v6}%eth0`),
      fc.constantFrom('fe80::1%', '::1%a%b', '10.1.2.3', '10.300.1.1'),
    );
    const hop = fc.oneof(ip, anyText(8));
    const forwarded = fc.array(hop, { maxLength: 6 }).map((hops) => hops.join(', '));
    fc.assert(
      fc.property(
        fc.option(hop, { nil: undefined }),
        fc.option(forwarded, { nil: undefined }),
        (peer, header) => {
          const client = address(peer, header);
          expect(typeof addressBlock(client)).toBe('string');
          const isTrusted = /^(?:::ffff:)?(?:10\.|192\.0\.2\.7$)|^2001:0?db8:/i.test(peer ?? '');
          if (!isTrusted) expect(client).toBe(createClientAddress([])(peer, undefined));
        },
      ),
      { numRuns: RUNS },
    );
  });
});

function write(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(':');
}

/** The shortest spelling of an IPv6 address. */
function canonical(address: string): string {
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

describe('addressBlock', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:DB8:1:2::', '2001:db8:1:2'],
    ['2001:0db8:0001:0002::9', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:db8::1:2:3:4:5', '2001:db8:0:1'],
    ['::1', '0:0:0:0'],
    ['::', '0:0:0:0'],
    ['1::', '1:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0'],
    ['', ''],
    ['unknown', 'unknown'],
  ])('counts %s as %s', (address, block) => {
    expect(addressBlock(address)).toBe(block);
  });

  it('is the same for every spelling of a /64, and another for its neighbour', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 }),
        fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 4, maxLength: 4 }),
        (groups, tail) => {
          const [one, same] = [write(groups), write([...groups.slice(0, 4), ...tail])];
          const neighbour = write([
            ...groups.slice(0, 3),
            ((groups[3] ?? 0) + 1) % 0x10000,
            ...tail,
          ]);
          const block = addressBlock(one);
          expect(addressBlock(canonical(one))).toBe(block);
          expect(addressBlock(same)).toBe(block);
          expect(addressBlock(canonical(same))).toBe(block);
          expect(addressBlock(neighbour)).not.toBe(block);
        },
      ),
      { numRuns: RUNS / 2 },
    );
  });
});
