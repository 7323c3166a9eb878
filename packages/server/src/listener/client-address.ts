/**
 * The address a request comes from, as far as it can be believed.
 *
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Returns the client's address from a connection and its forwarded header. */
export type ClientAddress = (peer: string | undefined, forwardedFor: string | undefined) => string;

/**
 * Creates the reader.
 *
 * `X-Forwarded-For` is believed only from a trusted proxy, from right to left, up to the first hop
 * that is not one itself. Without trusted proxies the header changes nothing.
 *
 * @param trustedProxies - CIDR ranges or addresses, from configuration. `unix` is a peer without an
 *   address, and may stand here only where nothing but a Unix socket is listened on.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = new BlockList();
  const trustsUnix = trustedProxies.includes('unix');
  for (const range of trustedProxies) {
    if (range === 'unix') continue;
    const [address = '', prefix] = range.split('/', 2);
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(prefix), family);
  }
  const isTrusted = (address: string) =>
    address === ''
      ? trustsUnix
      : isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

  return (peer, forwardedFor) => {
    let client = unmap(peer ?? '');
    for (const hop of (forwardedFor ?? '').split(',').toReversed()) {
      const address = unmap(withoutPort(hop.trim()));
      if (!isTrusted(client) || isIP(address) === 0) break;
      client = address;
    }
    return client;
  };
}

/** The client's address of a request, see {@link createClientAddress}. */
export function addressOf(
  request: {
    readonly headers: IncomingHttpHeaders;
    readonly socket: { readonly remoteAddress?: string | undefined };
  },
  clientAddress: ClientAddress,
): string {
  const forwardedFor = request.headers['x-forwarded-for'];
  return clientAddress(
    request.socket.remoteAddress,
    Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor,
  );
}

/**
 * What a client is counted by: its IPv4 address, or the /64 its IPv6 address lies in, since a
 * client with one address of a /64 has them all.
 */
export function addressBlock(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [
    ...left,
    ...Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0'),
    ...right,
  ];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`: their clients must not share one budget. */
function withoutPort(hop: string): string {
  const [, ipv4, ipv6] = /^(?:([\d.]+):\d{1,5}|\[([^\]]+)\](?::\d{1,5})?)$/.exec(hop) ?? [];
  return ipv4 ?? ipv6 ?? hop;
}

/** A dual-stack listener shows IPv4 peers as `::ffff:192.0.2.1`. */
function unmap(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}
