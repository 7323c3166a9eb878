/**
 * Who the platform says a token is.
 *
 * @module
 */

import { accept, type Result, refuse, SallyportError } from '@sallyport/protocol';
import { adviseLogin, type Failure, toThrownFailure } from '../terminal/report.ts';
import { EXIT } from '../terminal/stdio.ts';
import type { DiscoveredPlatform, Platform } from './platform.ts';

/** An account. Texts of the platform are made printable. */
export interface Account {
  readonly subject: string;
  readonly name: string;
  readonly email: string;
  /** Person or application. */
  readonly kind: 'user' | 'app';
  readonly issuer: string;
}

const ME_PATH = '/me';
/** An answer that takes longer will not come. */
const ANSWER_MS = 15_000;
const ANSWER_MAX_LENGTH = 65_536;
const TEXT_MAX_LENGTH = 320;

/**
 * Asks the platform.
 *
 * @returns The account. Otherwise what stands against it: 401 is `login_required`, 403 is known but
 *   not let in.
 * @throws {SallyportError} When the platform cannot be reached.
 */
export async function askAccount(
  platform: Platform,
  { client, key }: DiscoveredPlatform,
  signal: AbortSignal,
): Promise<Result<Account, Failure>> {
  let response: Response;
  try {
    response = await client.fetch(platform.endpoint + ME_PATH, {
      // Sent as an RPC client: the header name in a platform's metadata is the one of its RPCs.
      headers: { accept: 'application/json', 'connect-protocol-version': '1' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    });
  } catch (error) {
    if (!(error instanceof Error) || signal.aborted) throw error;
    if (error.name === 'TokenRefusedError' && platform.isPersonal)
      return refuse(adviseLogin(toThrownFailure(error, false), platform.loginCommand));
    // `fetch` reports network failures in a TypeError's cause; one without is a mistake in the program.
    const isOutage = error.name === 'TypeError' && error.cause !== undefined;
    if (!isOutage && error.name !== 'TimeoutError') throw error;
    throw new SallyportError('SP_PLATFORM_UNREACHABLE', {
      component: 'platform',
      detail: `${platform.endpoint} does not answer`,
      cause: error,
    });
  }
  const text = (await response.text()).slice(0, ANSWER_MAX_LENGTH);
  const record = parseObject(text);
  if (response.status !== 200) return refuse(toFailure(response.status, record, platform));
  const subject = readText(record, 'subject');
  if (subject === '') {
    return refuse({
      error: 'bad_answer',
      description: `${platform.endpoint} did not answer with an account.`,
      hint: 'Is this the address of the platform?',
      exitCode: EXIT.failure,
    });
  }
  const identity: Fields = Object.fromEntries(response.headers);
  return accept({
    subject,
    name: readText(record, 'name') || readText(record, 'preferred_username'),
    email: readText(record, 'email'),
    kind: readText(identity, 'x-user-identity-type') === 'app' ? 'app' : 'user',
    issuer: readText(identity, 'x-user-issuer') || key.issuer,
  });
}

/** Names an account on one line. */
export function describeAccount({ name, email, subject, kind }: Account): string {
  const shown = name === '' ? subject : name;
  const rest = email === '' || email === shown ? '' : ` <${email}>`;
  return `${shown}${rest}${kind === 'app' ? ' (application)' : ''}`;
}

type Fields = Readonly<Record<string, unknown>>;

function toFailure(
  status: number,
  record: Fields,
  { endpoint, isPersonal, loginCommand }: Platform,
): Failure {
  const reason = readText(record, 'reason');
  const why = reason === '' ? '' : ` (${reason})`;
  if (status === 401) {
    return {
      error: 'login_required',
      description: `${endpoint} does not accept the token${why}.`,
      hint: isPersonal ? `Sign in again: ${loginCommand}` : '',
      exitCode: EXIT.loginNeeded,
    };
  }
  if (status === 403) {
    return {
      error: reason === '' ? 'not_allowed' : reason,
      description: `${endpoint} knows the account, and does not let it in${why}.`,
      hint: 'Ask the operator of the platform for access.',
      exitCode: EXIT.failure,
    };
  }
  return {
    error: status >= 500 ? 'unavailable' : 'bad_answer',
    description: `${endpoint}${ME_PATH} answered ${status}${why}.`,
    hint: '',
    exitCode: status >= 500 ? EXIT.unreachable : EXIT.failure,
  };
}

function parseObject(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Fields) : {};
  } catch {
    return {};
  }
}

/** Reads a text that is shown on a terminal: nothing in it may move the cursor. */
function readText(record: Fields, name: string): string {
  const value = record[name];
  if (typeof value !== 'string') return '';
  return value
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ')
    .slice(0, TEXT_MAX_LENGTH)
    .trim();
}
