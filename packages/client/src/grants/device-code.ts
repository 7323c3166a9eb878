/**
 * Signing a person in on another device.
 *
 * @module
 */

import { type Result, refuse, SallyportError } from '@sallyport/protocol';
import type { Grant, GrantOptions, TokenRefusal } from '../grant.ts';
import type { PlatformMetadata } from '../platform-metadata.ts';
import type { TokenSet } from '../token-set.ts';
import { publicClient } from './client-authentication.ts';
import { createCodeVerifier, deriveCodeChallenge } from './code-challenge.ts';
import { type DeviceAuthorization, parseDeviceAuthorization } from './device-authorization.ts';
import { refusalOf } from './oauth-error.ts';
import type { InteractivePorts } from './ports.ts';
import { refreshTokens } from './refresh.ts';
import { cancelled, postForm, requestTokens } from './token-endpoint.ts';

/** What the grant is about. */
export interface DeviceCodeOptions {
  readonly metadata: PlatformMetadata;
  /** Where it differs from the metadata's. */
  readonly tokenEndpoint: string;
  readonly scopes: readonly string[];
  /** Empty: none is asked for. */
  readonly audience: string;
  /** Milliseconds a person has, unless the server's code ends sooner. */
  readonly timeoutMs: number;
  /** Origins that the identity provider's pages may be at over plain http; none when absent. */
  readonly dangerouslyAllowPlainHttpTo?: readonly string[];
}

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';
/** What `slow_down` adds, for good (RFC 8628 section 3.5). */
const SLOW_DOWN_MS = 5_000;
const INTERVAL_MAX_MS = 60_000;

/**
 * Creates the grant.
 *
 * A code challenge goes with it: some servers apply the client's PKCE rule to this endpoint too, and
 * the others ignore a parameter they do not know.
 *
 * @see [RFC 8628](https://www.rfc-editor.org/rfc/rfc8628)
 */
export function createDeviceCodeGrant(
  options: DeviceCodeOptions,
  ports: Omit<InteractivePorts, 'openBrowser' | 'pasted'>,
): Grant {
  const { metadata, tokenEndpoint, scopes } = options;
  return {
    kind: 'device_code',
    isInteractive: true,
    async obtain(attempt = {}) {
      const verifier = createCodeVerifier();
      const started = await start(options, verifier, ports, attempt);
      if (!started.ok) return started;
      const { userCode, verificationUri, verificationUriComplete, expiresAt } = started.value;
      ports.show({
        kind: 'device_code',
        userCode,
        verificationUri,
        verificationUriComplete,
        expiresAt,
      });
      return await poll(options, started.value, verifier, ports, attempt);
    },
    refresh: (refreshToken, attempt) =>
      refreshTokens(
        { tokenEndpoint, clientId: metadata.clientId, scopes, refreshToken },
        ports,
        attempt,
      ),
  };
}

async function start(
  { metadata, scopes, audience, timeoutMs, dangerouslyAllowPlainHttpTo }: DeviceCodeOptions,
  verifier: string,
  ports: Pick<InteractivePorts, 'fetch' | 'now'>,
  { signal }: GrantOptions,
): Promise<Result<DeviceAuthorization, TokenRefusal>> {
  const { deviceAuthorizationEndpoint, clientId } = metadata;
  if (deviceAuthorizationEndpoint === '' || clientId === '')
    return refuse({
      error: 'unsupported_grant',
      description: `The platform publishes no ${clientId === '' ? 'client ID' : 'device authorization endpoint'}, so a sign-in with a code is not possible.`,
      hint: 'Sign in by browser, or allow the device code grant at the authorization server.',
    });
  const body = new URLSearchParams({
    client_id: clientId,
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    ...(audience === '' ? {} : { audience }),
    code_challenge: deriveCodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const startedAt = ports.now();
  const sent = await postForm(ports.fetch, deviceAuthorizationEndpoint, { body }, signal);
  if (!sent.ok) return sent;
  if (sent.value.status !== 200)
    return refuse(refusalOf(sent.value, deviceAuthorizationEndpoint, { body }));
  const parsed = parseDeviceAuthorization(sent.value.text, {
    startedAt,
    timeoutMs,
    dangerouslyAllowPlainHttpTo,
  });
  if (parsed.ok) return parsed;
  throw new SallyportError('SP_IDP_PROTOCOL', {
    component: 'idp',
    detail: `the answer of ${new URL(deviceAuthorizationEndpoint).origin} ${parsed.error}`,
  });
}

async function poll(
  { metadata, tokenEndpoint, scopes }: DeviceCodeOptions,
  { deviceCode, expiresAt, intervalMs: firstIntervalMs }: DeviceAuthorization,
  verifier: string,
  ports: Omit<InteractivePorts, 'openBrowser' | 'pasted'>,
  { signal = new AbortController().signal }: GrantOptions,
): Promise<Result<TokenSet, TokenRefusal>> {
  let intervalMs = firstIntervalMs;
  for (;;) {
    if (ports.now() + intervalMs > expiresAt) return refuse(tooLate());
    try {
      await ports.wait(intervalMs, signal);
    } catch {
      return refuse(cancelled());
    }
    const outcome = await ask();
    if (outcome === undefined) {
      // A server in trouble is not asked at the same pace.
      intervalMs = Math.min(intervalMs * 2, INTERVAL_MAX_MS);
      continue;
    }
    if (outcome.ok) return outcome;
    if (outcome.error.error === 'slow_down') intervalMs += SLOW_DOWN_MS;
    else if (outcome.error.error !== 'authorization_pending') return outcome;
  }

  /** `undefined` for no usable answer: networks and servers recover while a person types. */
  async function ask(): Promise<Result<TokenSet, TokenRefusal> | undefined> {
    try {
      return await requestTokens(
        {
          tokenEndpoint,
          authentication: publicClient(metadata.clientId),
          parameters: {
            grant_type: GRANT_TYPE,
            device_code: deviceCode,
            code_verifier: verifier,
          },
          scopes,
        },
        ports,
        { signal },
      );
    } catch (failure) {
      if (failure instanceof SallyportError && failure.code === 'SP_IDP_UNREACHABLE')
        return undefined;
      throw failure;
    }
  }
}

function tooLate(): TokenRefusal {
  return {
    error: 'expired_token',
    description: 'The code was not entered in time.',
    hint: 'Start again.',
  };
}
