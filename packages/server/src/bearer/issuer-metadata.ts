/**
 * An issuer's metadata document: where its keys are.
 *
 * @module
 */

import { BlockList, isIP } from 'node:net';
import { SallyportError } from '@sallyport/protocol';
import { type JsonObject, parseStrictObject } from './strict-json.ts';

/** Fetches from an issuer; bounded in time and size, follows no redirect, rejects when nobody answers. */
export type IssuerFetch = (url: string, init: RequestInit) => Promise<Response>;

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
 * Lists where an issuer's metadata may be, in the order to ask.
 *
 * @param metadataUrl - From configuration; empty for the two registered places.
 *
 * @see [OIDC Discovery 1.0 section 4](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig) appended to the issuer
 * @see [RFC 8414 section 3](https://www.rfc-editor.org/rfc/rfc8414#section-3) put between host and path
 */
export function listMetadataUrls(issuer: string, metadataUrl: string): readonly string[] {
  if (metadataUrl !== '') return [metadataUrl];
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}

/**
 * Fetches the metadata document and reads from it where the keys are.
 *
 * @returns The `jwks_uri`.
 * @throws {SallyportError} `SP_IDP_UNREACHABLE` or `SP_IDP_PROTOCOL`.
 */
export async function fetchJwksUri(
  issuer: string,
  metadataUrl: string,
  fetch: IssuerFetch,
): Promise<string> {
  const metadata = await fetchFirst(listMetadataUrls(issuer, metadataUrl), fetch);
  if (metadata['issuer'] !== issuer)
    throw misbehaved('the metadata document names another issuer than the configured one');
  const uri = metadata['jwks_uri'];
  const problem = typeof uri === 'string' ? findKeyAddressProblem(issuer, uri) : 'is missing';
  if (typeof uri !== 'string' || problem !== undefined) throw misbehaved(`jwks_uri ${problem}`);
  return uri;
}

/** Asks one place after the other; the next only when the one before says 404. */
async function fetchFirst(urls: readonly string[], fetch: IssuerFetch): Promise<JsonObject> {
  for (const [index, url] of urls.entries()) {
    const response = await fetch(url, { headers: { accept: 'application/json' } });
    if (response.status === 404 && index < urls.length - 1) continue;
    if (response.status !== 200)
      throw misbehaved(`the metadata document was answered with status ${response.status}`);
    const metadata = parseStrictObject(await response.text());
    if (metadata === undefined) throw misbehaved('the metadata document is no JSON object');
    return metadata;
  }
  throw misbehaved('the metadata document was not found');
}

/**
 * Says why keys may not be fetched from an address that an issuer names.
 *
 * TLS everywhere but on this machine. An issuer that is not on an internal address itself may not
 * send us to one, unless it is the same origin: a document from outside must not choose what inside
 * is asked. Names are not resolved: an issuer inside the network has a name that is.
 */
export function findKeyAddressProblem(issuer: string, jwksUri: string): string | undefined {
  const [from, to] = [new URL(issuer), URL.parse(jwksUri)];
  if (to === null || (to.protocol !== 'https:' && to.protocol !== 'http:')) return 'is no URL';
  if (to.username !== '' || to.password !== '') return 'has user information';
  if (to.protocol === 'http:' && !(isLoopback(from) && isLoopback(to))) return 'is not https';
  if (to.origin !== from.origin && isInternal(to) && !isInternal(from))
    return 'is an internal address, and the issuer is not';
  return undefined;
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

function misbehaved(detail: string): SallyportError {
  return new SallyportError('SP_IDP_PROTOCOL', { component: 'idp:bearer', detail });
}
