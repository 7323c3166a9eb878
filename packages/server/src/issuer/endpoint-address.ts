/**
 * Where an issuer's document may send this service and its clients.
 *
 * @module
 */

import { BlockList, isIP } from 'node:net';

/** What is wrong with an address; for the log. */
export type EndpointProblem = 'malformed' | 'not_https' | 'internal';

const ADDRESS_MAX_LENGTH = 2_048;
const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost']);
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
 * An issuer on https has https endpoints only. One on plain http, which the configuration allows or not,
 * may have either; where it is on this machine its plain http endpoints are, too. An issuer that is on no
 * internal address may not name one, unless it is the same origin: a document from outside must not choose
 * what inside is asked. Names are not resolved: an issuer inside the network has a name that is.
 *
 * @param issuer - An absolute URL, from the configuration.
 * @param address - Untrusted.
 *
 * @see [RFC 8414 section 2](https://www.rfc-editor.org/rfc/rfc8414#section-2) endpoints are URLs, over TLS
 */
export function findEndpointProblem(issuer: string, address: unknown): EndpointProblem | undefined {
  if (typeof address !== 'string' || address.length > ADDRESS_MAX_LENGTH) return 'malformed';
  const [from, to] = [new URL(issuer), URL.parse(address)];
  if (to === null || to.username !== '' || to.password !== '' || to.hash !== '') return 'malformed';
  if (!isSchemeAllowed(from, to)) return 'not_https';
  if (to.origin !== from.origin && isInternal(to) && !isInternal(from)) return 'internal';
  return undefined;
}

function isSchemeAllowed(from: URL, to: URL): boolean {
  if (to.protocol === 'https:') return true;
  if (to.protocol !== 'http:' || from.protocol !== 'http:') return false;
  return isLoopback(to) || !isLoopback(from);
}

function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK_NAMES.has(hostname) || hostname === '[::1]' || /^127\.[\d.]+$/.test(hostname);
}

function isInternal(url: URL): boolean {
  if (LOOPBACK_NAMES.has(url.hostname) || url.hostname.endsWith('.localhost')) return true;
  const address = url.hostname.replace(/^\[|\]$/g, '');
  const version = isIP(address);
  return version !== 0 && INTERNAL_ADDRESSES.check(address, version === 6 ? 'ipv6' : 'ipv4');
}
