/**
 * Where an issuer's document may send this service and its clients.
 *
 * @module
 */

import { BlockList, isIP } from 'node:net';
import { isLoopbackHost } from '@sallyport/protocol';

/** What is wrong with an address; for the log. */
export type EndpointProblem = 'malformed' | 'not_https' | 'internal';

const ADDRESS_MAX_LENGTH = 2_048;
const INTERNAL_ADDRESSES = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  INTERNAL_ADDRESSES.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  INTERNAL_ADDRESSES.addSubnet(network, prefix, 'ipv6');

/**
 * Says why an address that an issuer names may not be used.
 *
 * It is on https; on plain http only on this machine, for an issuer that is on plain http there itself, and
 * at the origins that the configuration allows by name. An issuer that is on no internal address may not
 * name one, unless it is the same origin or one of those: a document from outside must not choose what
 * inside is asked. Names are not resolved: an issuer inside the network has a name that is.
 *
 * @param issuer - An absolute URL, from the configuration.
 * @param address - Untrusted.
 * @param dangerouslyAllowPlainHttpTo - The setting of that name.
 *
 * @see [RFC 8414 section 2](https://www.rfc-editor.org/rfc/rfc8414#section-2) endpoints are URLs, over TLS
 */
export function findEndpointProblem(
  issuer: string,
  address: unknown,
  dangerouslyAllowPlainHttpTo: readonly string[] = [],
): EndpointProblem | undefined {
  if (typeof address !== 'string' || address.length > ADDRESS_MAX_LENGTH) return 'malformed';
  const [from, to] = [new URL(issuer), URL.parse(address)];
  if (to === null || to.username !== '' || to.password !== '' || to.hash !== '') return 'malformed';
  if (to.protocol === 'http:' && dangerouslyAllowPlainHttpTo.includes(to.origin)) return undefined;
  if (to.protocol !== 'https:' && !(isPlainLoopback(to) && isPlainLoopback(from)))
    return 'not_https';
  if (to.origin !== from.origin && isInternal(to) && !isInternal(from)) return 'internal';
  return undefined;
}

function isPlainLoopback({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && isLoopbackHost(hostname);
}

function isInternal(url: URL): boolean {
  if (url.hostname === 'localhost' || url.hostname.endsWith('.localhost')) return true;
  const address = url.hostname.replace(/^\[|\]$/g, '');
  const version = isIP(address);
  return version !== 0 && INTERNAL_ADDRESSES.check(address, version === 6 ? 'ipv6' : 'ipv4');
}
