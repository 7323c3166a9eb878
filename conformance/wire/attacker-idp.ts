/**
 * An identity provider that lies on demand.
 *
 * @module
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

/** What a forger knows when it makes an id_token. */
export interface Forgery {
  readonly issuer: string;
  readonly clientId: string;
  readonly nonce: string;
  /** Seconds since the epoch. */
  readonly now: number;
  /** The key the IdP publishes as `k1`. */
  readonly signingKey: CryptoKey;
  readonly publicJwk: JWK;
  /** Claims an honest id_token would have. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** A token endpoint's answer in full, for lies beyond the id_token. */
export interface TokenAnswer {
  readonly status?: number;
  readonly body: string;
  readonly contentType?: string;
}

/** The IdP under control of the test. */
export interface AttackerIdp {
  readonly issuer: string;
  /** Makes the next id_tokens; the honest one by default. */
  forge: (forgery: Forgery) => Promise<string>;
  /** Replaces the whole token answer. */
  answer: ((idToken: string) => TokenAnswer) | undefined;
  /** Userinfo of the next sign-ins, beside `sub`. */
  userInfo: Readonly<Record<string, unknown>>;
  /** The published key set, beside `k1`. */
  readonly counts: { jwks: number; token: number; userinfo: number };
  /** Forms posted to the token endpoint. */
  readonly tokenForms: URLSearchParams[];
  /** Signs honestly. */
  honest(forgery: Forgery): Promise<string>;
  /**
   * Plays the IdP's part after `/login`: reads the authorization request and gives the callback's query.
   *
   * @param location - Where `/login` sent the browser.
   */
  authorize(location: string): URLSearchParams;
  close(): Promise<void>;
}

/** Starts it on a free port. */
export async function startAttackerIdp(clientId: string): Promise<AttackerIdp> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const publicJwk: JWK = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };
  const nonceByCode = new Map<string, string>();
  let codes = 0;
  const server = createServer((req, res) => void handle(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const idp: AttackerIdp = {
    issuer,
    forge: (forgery) => idp.honest(forgery),
    answer: undefined,
    userInfo: { name: 'Ada Lovelace', email: 'ada@example.test', email_verified: true },
    counts: { jwks: 0, token: 0, userinfo: 0 },
    tokenForms: [],
    honest: ({ claims, signingKey }) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'k1', typ: 'JWT' })
        .sign(signingKey),
    authorize(location) {
      const { searchParams } = new URL(location);
      codes += 1;
      const code = `code-${codes}`;
      nonceByCode.set(code, searchParams.get('nonce') ?? '');
      return new URLSearchParams({ code, state: searchParams.get('state') ?? '', iss: issuer });
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return idp;

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const json = (body: unknown, status = 200) => {
      res.writeHead(status, { 'content-type': 'application/json' });
      res.end(JSON.stringify(body));
    };
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    switch (new URL(req.url ?? '/', issuer).pathname) {
      case '/.well-known/openid-configuration':
        return json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          userinfo_endpoint: `${issuer}/userinfo`,
          jwks_uri: `${issuer}/jwks`,
          end_session_endpoint: `${issuer}/end_session`,
          revocation_endpoint: `${issuer}/revoke`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          authorization_response_iss_parameter_supported: true,
        });
      case '/jwks':
        idp.counts.jwks += 1;
        return json({ keys: [publicJwk] });
      case '/token': {
        idp.counts.token += 1;
        idp.tokenForms.push(form);
        const code = form.get('code') ?? '';
        const nonce = nonceByCode.get(code);
        if (nonce === undefined)
          return json({ error: 'invalid_grant', error_description: 'unknown code' }, 400);
        nonceByCode.delete(code);
        const now = Math.floor(Date.now() / 1_000);
        const idToken = await idp.forge({
          issuer,
          clientId,
          nonce,
          now,
          signingKey: privateKey,
          publicJwk,
          claims: { iss: issuer, sub: 'ada', aud: clientId, nonce, iat: now, exp: now + 300 },
        });
        if (idp.answer !== undefined) {
          const { status = 200, body, contentType = 'application/json' } = idp.answer(idToken);
          res.writeHead(status, { 'content-type': contentType });
          return void res.end(body);
        }
        return json({
          access_token: 'access-token-of-ada',
          token_type: 'Bearer',
          expires_in: 300,
          id_token: idToken,
          refresh_token: 'refresh-token-of-ada',
        });
      }
      case '/userinfo':
        idp.counts.userinfo += 1;
        return json({ sub: 'ada', ...idp.userInfo });
      case '/revoke':
        return json({});
      default:
        return json({ error: 'not_found' }, 404);
    }
  }
}
