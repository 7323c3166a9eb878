/**
 * oauth2-proxy, the peer, set up as well as it can be for answering checks.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import type { FakeIdp } from '@sallyport/testing/idp/fake-idp';
import { freePort } from '@sallyport/testing/wire/ports';
import { exchange } from '../../conformance/wire/exchange.ts';
import type { Ends } from '../process/ends.ts';
import { SERVER_CORE, startPinned, waitUntil } from '../process/pinned.ts';
import { CLIENT_ID, signIn } from './identity-provider.ts';

/** Settings of {@link startPeer}. */
export interface PeerOptions {
  /** The program. */
  readonly path: string;
  readonly idp: FakeIdp;
  /** Port of the Redis that keeps the sessions; without one, the cookie holds them. */
  readonly redisPort?: number;
  /** Audience of JWT bearers to accept, beside its own client id; without one, none are looked at. */
  readonly bearerAudience?: string;
  /** Leaves the IdP's tokens out of its cookie: less to decrypt, and no session can be renewed. */
  readonly withoutTokens?: boolean;
  /** Whether nginx stands before it, whose forwarded headers count. */
  readonly isBehindProxy?: boolean;
}

/** The running proxy. */
export interface Peer {
  /** Of its check. */
  readonly url: string;
  readonly origin: string;
  readonly pids: () => readonly number[];
  /** A Cookie header of a signed-in browser. */
  signIn(): Promise<string>;
}

const COOKIE_NAME = '_oauth2_proxy';

/** Starts it. */
export async function startPeer(ends: Ends, options: PeerOptions): Promise<Peer> {
  const { path, idp } = options;
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const running = startPinned(ends, SERVER_CORE, [path, ...argumentsOf(options, port, origin)], {
    // More threads than cores only get in each other's way.
    env: { GOMAXPROCS: '1' },
  });
  await waitUntil(running, async () => (await exchange(`${origin}/ping`)).status === 200);
  return {
    url: `${origin}/oauth2/auth`,
    origin,
    pids: () => [running.pid],
    signIn: () =>
      signIn(idp, {
        login: `${origin}/oauth2/start?rd=/`,
        callback: `${origin}/oauth2/callback`,
        cookieName: COOKIE_NAME,
      }),
  };
}

function argumentsOf(
  { idp, redisPort, bearerAudience, withoutTokens = false, isBehindProxy = false }: PeerOptions,
  port: number,
  origin: string,
): readonly string[] {
  return [
    `--http-address=127.0.0.1:${port}`,
    '--provider=oidc',
    `--oidc-issuer-url=${idp.issuer}`,
    `--client-id=${CLIENT_ID}`,
    '--client-secret=bench',
    `--redirect-url=${origin}/oauth2/callback`,
    // As Sallyport does.
    '--code-challenge-method=S256',
    '--skip-provider-button=true',
    '--email-domain=*',
    // Only the check is asked; an upstream has to be there.
    '--upstream=static://200',
    `--cookie-secret=${randomBytes(16).toString('hex')}`,
    // The bench speaks plain http.
    '--cookie-secure=false',
    // Headers of the answer name the person, as those of Sallyport do.
    '--set-xauthrequest=true',
    // It writes a line for each request otherwise, which would cost it a good part of its rate.
    '--request-logging=false',
    '--auth-logging=false',
    '--standard-logging=false',
    // As its documentation has it behind nginx.
    `--reverse-proxy=${isBehindProxy}`,
    // A claim that a bearer leaves out would be asked for at the IdP otherwise, at each check.
    ...(bearerAudience === undefined ? [] : ['--skip-claims-from-profile-url=true']),
    ...(redisPort === undefined
      ? ['--session-store-type=cookie', `--session-cookie-minimal=${withoutTokens}`]
      : ['--session-store-type=redis', `--redis-connection-url=redis://127.0.0.1:${redisPort}`]),
    ...(bearerAudience === undefined
      ? []
      : ['--skip-jwt-bearer-tokens=true', `--oidc-extra-audience=${bearerAudience}`]),
  ];
}
