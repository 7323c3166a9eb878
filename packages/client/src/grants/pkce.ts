/**
 * Signing a person in by browser: authorization code with PKCE and a loopback redirect.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { type Result, refuse } from '@sallyport/protocol';
import type { Grant, GrantOptions, TokenRefusal } from '../grant.ts';
import { type AnswerReceiver, receiveAnswer } from '../loopback/receive-answer.ts';
import { parseLoopbackRedirect } from '../loopback/redirect-uri.ts';
import { isSafeUrl } from '../metadata/parse-metadata.ts';
import type { PlatformMetadata } from '../platform-metadata.ts';
import type { TokenSet } from '../token-set.ts';
import { publicClient } from './client-authentication.ts';
import { createCodeVerifier, deriveCodeChallenge } from './code-challenge.ts';
import type { InteractivePorts } from './ports.ts';
import { refreshTokens } from './refresh.ts';
import { cancelled, requestTokens } from './token-endpoint.ts';

/** What the grant is about. */
export interface PkceOptions {
  readonly metadata: PlatformMetadata;
  /** Where it differs from the metadata's. */
  readonly tokenEndpoint: string;
  readonly scopes: readonly string[];
  /** Empty: none is asked for. */
  readonly audience: string;
  /** Milliseconds a person has. */
  readonly timeoutMs: number;
  /** Origins that the identity provider's pages may be at over plain http; none when absent. */
  readonly dangerouslyAllowPlainHttpTo?: readonly string[];
}

/**
 * Creates the grant. The challenge is always S256, whatever the server lists.
 *
 * @see [RFC 8252](https://www.rfc-editor.org/rfc/rfc8252), [RFC 7636](https://www.rfc-editor.org/rfc/rfc7636)
 */
export function createPkceGrant(options: PkceOptions, ports: InteractivePorts): Grant {
  const { metadata, tokenEndpoint, scopes } = options;
  return {
    kind: 'pkce',
    isInteractive: true,
    obtain: (attempt) => signIn(options, ports, attempt),
    refresh: (refreshToken, attempt) =>
      refreshTokens(
        { tokenEndpoint, clientId: metadata.clientId, scopes, refreshToken },
        ports,
        attempt,
      ),
  };
}

async function signIn(
  options: PkceOptions,
  ports: InteractivePorts,
  { signal }: GrantOptions = {},
): Promise<Result<TokenSet, TokenRefusal>> {
  const { metadata, tokenEndpoint, scopes, audience, dangerouslyAllowPlainHttpTo } = options;
  const { authorizationEndpoint, clientId, issuer, isIssuerNamed, redirectUri } = metadata;
  if (!isSafeUrl(authorizationEndpoint, dangerouslyAllowPlainHttpTo))
    return refuse(notOffered('authorization endpoint'));
  if (clientId === '') return refuse(notOffered('client ID'));
  const redirect = parseLoopbackRedirect(redirectUri);
  if (!redirect.ok) return refuse(unusableRedirect());
  if (signal?.aborted === true) return refuse(cancelled());

  const state = randomBytes(32).toString('base64url');
  const verifier = createCodeVerifier();
  const receiver = await receiveAnswer(redirect.value, { state, issuer, isIssuerNamed });
  if (!receiver.ok) return receiver;
  let outcome: Result<TokenSet, TokenRefusal> = refuse(cancelled());
  try {
    const url = buildUrl(authorizationEndpoint, {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
      ...(audience === '' ? {} : { audience }),
      state,
      code_challenge: deriveCodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const answer = await waitForAnswer(receiver.value, url, options, ports, signal);
    if (!answer.ok) outcome = answer;
    else {
      ports.show({ kind: 'answer_received' });
      outcome = await requestTokens(
        {
          tokenEndpoint,
          authentication: publicClient(clientId),
          parameters: {
            grant_type: 'authorization_code',
            code: answer.value.code,
            redirect_uri: redirectUri,
            code_verifier: verifier,
          },
          scopes,
        },
        ports,
        signal === undefined ? {} : { signal },
      );
    }
    return outcome;
  } catch (failure) {
    outcome = refuse({
      error: 'server_error',
      description: 'The identity provider did not answer when the tokens were asked for.',
      hint: '',
    });
    throw failure;
  } finally {
    await receiver.value.finish(outcome);
  }
}

/** The first of: an answer, the end of the time, the end of the attempt. */
async function waitForAnswer(
  receiver: AnswerReceiver,
  url: string,
  { metadata: { redirectUri }, timeoutMs }: PkceOptions,
  { show, openBrowser, pasted, wait }: InteractivePorts,
  signal: AbortSignal | undefined,
): ReturnType<typeof receiveCode> {
  const ended = new AbortController();
  const stop = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
  const stopPasting = pasted?.((text) => {
    const problem = receiver.takePasted(text);
    if (problem !== undefined) show({ kind: 'paste_refused', description: problem });
  });
  try {
    show({ kind: 'browser', url, redirectUri });
    startBrowser(openBrowser, url);
    return await Promise.race([
      receiveCode(receiver),
      wait(timeoutMs, stop).then(
        () => refuse(timedOut(redirectUri, timeoutMs, receiver.isCrowded())),
        () => refuse(cancelled()),
      ),
    ]);
  } finally {
    ended.abort();
    stopPasting?.();
  }
}

async function receiveCode(
  receiver: AnswerReceiver,
): Promise<Result<{ readonly code: string }, TokenRefusal>> {
  return await receiver.answer;
}

/** Opening is a courtesy: the address has been shown, and what the opener says proves nothing. */
function startBrowser(openBrowser: InteractivePorts['openBrowser'], url: string): void {
  if (openBrowser === undefined) return;
  Promise.resolve()
    .then(() => openBrowser(url))
    .catch(() => {});
}

function buildUrl(endpoint: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(endpoint);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

function timedOut(redirectUri: string, timeoutMs: number, isCrowded: boolean): TokenRefusal {
  const crowded = `Other programs on this machine held so many connections to port ${new URL(redirectUri).port} that some were closed; the browser's may have been among them. Sign in with a device code.`;
  return {
    error: 'login_timed_out',
    description: `The browser did not come back within ${Math.round(timeoutMs / 1_000)} seconds.`,
    hint: isCrowded
      ? crowded
      : `If the identity provider showed an error page: it does so, and never redirects back, when ${redirectUri} is not registered for the native app byte for byte. On another machine, sign in with a device code.`,
  };
}

function unusableRedirect(): TokenRefusal {
  return {
    error: 'redirect_uri_unusable',
    description: 'The platform names a redirect URI that is not http on this machine with a port.',
    hint: 'Set auth.appAuth.thirdPartyConfig.flyteClient.redirectUri to http://localhost:53593/callback, and register the same.',
  };
}

function notOffered(what: string): TokenRefusal {
  return {
    error: 'unsupported_grant',
    description: `The platform publishes no ${what}, so a sign-in by browser is not possible.`,
    hint: 'Use client credentials, or complete auth.appAuth of the admin service.',
  };
}
