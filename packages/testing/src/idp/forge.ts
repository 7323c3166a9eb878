/**
 * A maker of tokens, good and bad, and the issuer that vouches for the good ones.
 *
 * @module
 */

import { constants, generateKeyPairSync, type SigningOptions, sign } from 'node:crypto';
import type { IssuerSettings } from '../../../server/src/bearer/bearer-settings.ts';
import { NOON } from '../time/clock.ts';
import { type KeyPair, nextRsaKeys } from './rsa-keys.ts';

/** The issuer of honest tokens. */
export const ISSUER = 'https://idp.example';
/** The audience they are for. */
export const AUDIENCE = 'https://flow.example';
/** Clients that people sign in with. */
export const WEB_CLIENT = 'web-app';
export const NATIVE_CLIENT = 'native-app';

type Claims = Readonly<Record<string, unknown>>;

/** A key pair under the name it is published by. */
export interface SigningKey extends KeyPair {
  readonly kid: string;
  readonly alg: string;
  readonly jwk: Readonly<Record<string, unknown>>;
}

/** Makes a key pair for an algorithm. */
export function createSigningKey(alg = 'RS256', kid = 'key-1'): SigningKey {
  return toSigningKey(alg, kid, generateKeys(alg));
}

/** Gives a key pair its name. */
export function toSigningKey(
  alg: string,
  kid: string,
  { privateKey, publicKey }: KeyPair,
): SigningKey {
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' };
  return { kid, alg, privateKey, publicKey, jwk };
}

function generateKeys(alg: string): KeyPair {
  switch (alg) {
    case 'ES256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' });
    case 'ES384':
      return generateKeyPairSync('ec', { namedCurve: 'P-384' });
    case 'ES512':
      return generateKeyPairSync('ec', { namedCurve: 'P-521' });
    case 'EdDSA':
    case 'Ed25519':
      return generateKeyPairSync('ed25519');
    default:
      return nextRsaKeys();
  }
}

/** What an honest access token says at noon; it ends an hour later. */
export const HONEST_CLAIMS: Claims = {
  iss: ISSUER,
  sub: 'ada',
  aud: AUDIENCE,
  exp: NOON / 1_000 + 3_600,
  iat: NOON / 1_000 - 10,
  scope: 'offline all',
  client_id: NATIVE_CLIENT,
};

/** Encodes one part of a token: text as it is, anything else as JSON. */
export function encodePart(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString(
    'base64url',
  );
}

/** Signs a token. A header member or claim that is `undefined` is left out. */
export function forgeToken(key: SigningKey, claims: unknown, header: Claims | string = {}): string {
  const head =
    typeof header === 'string' ? header : { alg: key.alg, typ: 'at+jwt', kid: key.kid, ...header };
  const input = `${encodePart(head)}.${encodePart(claims)}`;
  return `${input}.${signInput(input, key).toString('base64url')}`;
}

/** The signature alone. */
export function signInput(input: string, { alg, privateKey }: SigningKey): Buffer {
  if (privateKey.asymmetricKeyType === 'ed25519') return sign(null, Buffer.from(input), privateKey);
  const digest = `sha${alg.slice(2)}`;
  const options: SigningOptions = alg.startsWith('PS')
    ? {
        padding: constants.RSA_PKCS1_PSS_PADDING,
        saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
      }
    : alg.startsWith('ES')
      ? { dsaEncoding: 'ieee-p1363' }
      : {};
  return sign(digest, Buffer.from(input), { key: privateKey, ...options });
}

/** How an honest issuer's tokens are read. */
export const ISSUER_SETTINGS: IssuerSettings = {
  issuer: ISSUER,
  metadataUrl: '',
  audiences: [AUDIENCE],
  algorithms: [
    'RS256',
    'RS384',
    'RS512',
    'PS256',
    'PS384',
    'PS512',
    'ES256',
    'ES384',
    'ES512',
    'EdDSA',
    'Ed25519',
  ],
  clientIdClaims: ['client_id', 'azp', 'cid', 'appid'],
  scopeClaims: ['scope', 'scp'],
  subjectClaim: 'sub',
  subjectPrefix: '',
  emailTrusted: false,
};

/** Issuers that answer metadata and key requests, as a test has them at the moment. */
export class IssuersInMemory {
  /** Published keys by issuer; an issuer that is not here answers 404. */
  readonly keys: Map<string, readonly object[]> = new Map();
  /** Rejects every request, as a network does. */
  isDown = false;
  /** Stands in for an answer, by URL. */
  readonly answers: Map<string, () => Response> = new Map();
  /** Every URL that was asked for, oldest first. */
  readonly asked: string[] = [];

  constructor(keys: Readonly<Record<string, readonly object[]>>) {
    for (const [issuer, published] of Object.entries(keys)) this.keys.set(issuer, published);
  }

  /** Requests for key sets. */
  get keyRequests(): number {
    return this.asked.filter((url) => url.endsWith('/jwks')).length;
  }

  /** Bound, so that it can be passed on as the way out. */
  readonly fetch = async (url: string | URL | Request): Promise<Response> => {
    const address = String(url instanceof Request ? url.url : url);
    this.asked.push(address);
    if (this.isDown) throw new TypeError('fetch failed');
    const answer = this.answers.get(address);
    if (answer !== undefined) return answer();
    for (const [issuer, keys] of this.keys) {
      if (address === `${issuer}/.well-known/openid-configuration`)
        return Response.json({ issuer, jwks_uri: `${issuer}/jwks` });
      if (address === `${issuer}/jwks`) return Response.json({ keys });
    }
    return new Response('', { status: 404 });
  };
}
