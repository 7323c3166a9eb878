/**
 * The answer of the device authorization endpoint.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import { isSafeUrl } from '../metadata/parse-metadata.ts';
import { parseJsonObject } from './json-object.ts';

/** A code for a person, and the one to ask with. */
export interface DeviceAuthorization {
  /** A secret. */
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly verificationUriComplete: string | undefined;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  readonly intervalMs: number;
}

/** When the server does not say (RFC 8628 section 3.2). */
const INTERVAL_SECONDS = 5;
const INTERVAL_MAX_SECONDS = 60;

/**
 * Parses the answer.
 *
 * @param text - Untrusted.
 * @param limits - Start in epoch milliseconds, and how long a person has at most.
 *
 * @returns The codes; otherwise what is wrong, completing "the answer …", without any of it.
 *
 * @see [RFC 8628 section 3.2](https://www.rfc-editor.org/rfc/rfc8628#section-3.2)
 */
export function parseDeviceAuthorization(
  text: string,
  limits: {
    readonly startedAt: number;
    readonly timeoutMs: number;
    readonly dangerouslyAllowPlainHttpTo?: readonly string[] | undefined;
  },
): Result<DeviceAuthorization, string> {
  const body = parseJsonObject(text);
  if (body === undefined) return refuse('is no JSON object');
  const { device_code: deviceCode, user_code: userCode, expires_in: lifetime, interval } = body;
  // Older servers say `verification_url`.
  const uri = body['verification_uri'] ?? body['verification_url'];
  const complete = body['verification_uri_complete'];
  if (!isPlain(deviceCode, 8_192)) return refuse('has no usable device_code');
  if (!isPlain(userCode, 128)) return refuse('has no usable user_code');
  const isSafe = (text: string) => isSafeUrl(text, limits.dangerouslyAllowPlainHttpTo);
  if (!isPlain(uri, 2_048) || !isSafe(uri))
    return refuse('has a verification_uri that is neither https nor http on this machine');
  if (!isGiven(complete)) return build(undefined);
  if (!isPlain(complete, 2_048) || !isSafe(complete))
    return refuse('has a verification_uri_complete that is neither https nor http on this machine');
  return build(complete);

  function build(verificationUriComplete: string | undefined): Result<DeviceAuthorization, string> {
    const seconds = isGiven(lifetime) ? lifetime : limits.timeoutMs / 1_000;
    if (typeof seconds !== 'number' || !(seconds > 0)) return refuse('has no usable expires_in');
    const pace = isGiven(interval) ? interval : INTERVAL_SECONDS;
    if (typeof pace !== 'number' || !(pace >= 0)) return refuse('has no usable interval');
    return accept({
      deviceCode: String(deviceCode),
      userCode: String(userCode),
      verificationUri: String(uri),
      verificationUriComplete,
      expiresAt: limits.startedAt + Math.min(seconds * 1_000, limits.timeoutMs),
      intervalMs: Math.min(Math.max(pace, 1), INTERVAL_MAX_SECONDS) * 1_000,
    });
  }
}

function isPlain(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value.length <= maxLength && /^[\x20-\x7e]+$/.test(value);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
