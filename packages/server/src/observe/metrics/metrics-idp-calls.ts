/**
 * Counts and times what is asked of identity providers, by what it is asked for.
 *
 * @module
 */

import { CounterFamily, HistogramFamily, type Metric } from './metrics-family.ts';

/** What an identity provider is asked for. */
type IdpOperation =
  | 'discovery'
  | 'jwks'
  | 'token'
  | 'refresh'
  | 'userinfo'
  | 'introspection'
  | 'revocation'
  | 'par'
  | 'other';

/** What came of it. */
type IdpOutcome = 'ok' | 'refused' | 'throttled' | 'server_error' | 'timeout' | 'unreachable';

const OPERATIONS: readonly IdpOperation[] = [
  'discovery',
  'jwks',
  'token',
  'refresh',
  'userinfo',
  'introspection',
  'revocation',
  'par',
  'other',
];
const OUTCOMES: readonly IdpOutcome[] = [
  'ok',
  'refused',
  'throttled',
  'server_error',
  'timeout',
  'unreachable',
];
const UPPER_BOUNDS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** OIDC Discovery 1.0 section 4 and RFC 8414 section 3; some providers keep their keys beside it. */
const METADATA_PATH = /\/\.well-known\/(?:openid-configuration|oauth-authorization-server)(?:\/|$)/;

/** The counts, and who counts. */
export interface IdpCallCounts {
  /**
   * A fetch that counts each request.
   *
   * Timed until the head of the answer is there: the reader bounds the rest.
   *
   * @param metadataUrls - Configured places of metadata, which cannot be distinguished from key sets otherwise.
   */
  count(fetch: typeof globalThis.fetch, metadataUrls: readonly string[]): typeof globalThis.fetch;
  read(): readonly Metric[];
}

/**
 * Creates the counts, all 0.
 *
 * @param monotonicMs - Milliseconds from any start, never set back.
 */
export function createIdpCallCounts(monotonicMs: () => number): IdpCallCounts {
  const requests = new CounterFamily({
    name: 'sallyport_idp_requests_total',
    help: 'Requests to identity providers.',
    labels: ['operation', 'outcome'],
    series: OPERATIONS.flatMap((operation) =>
      OUTCOMES.map((outcome) => [operation, outcome] as const),
    ),
  });
  const durations = new HistogramFamily({
    name: 'sallyport_idp_request_duration_seconds',
    help: 'Time until an identity provider began to answer, or did not.',
    labels: ['operation'],
    series: OPERATIONS.map((operation) => [operation] as const),
    upperBounds: UPPER_BOUNDS_SECONDS,
  });

  return {
    count(fetch, metadataUrls) {
      const isMetadata = (url: string) => metadataUrls.includes(url);
      return async (input, init) => {
        const operation = classifyIdpOperation(addressOf(input), init, isMetadata);
        const startedAt = monotonicMs();
        let outcome: IdpOutcome = 'unreachable';
        try {
          const response = await fetch(input, init);
          outcome = classifyOutcome(response.status);
          return response;
        } catch (cause) {
          outcome = isTimeout(cause) ? 'timeout' : 'unreachable';
          throw cause;
        } finally {
          requests.add(requests.slot(operation, outcome));
          durations.observe(durations.slot(operation), (monotonicMs() - startedAt) / 1_000);
        }
      };
    },
    read: () => [requests.read(), durations.read()],
  };
}

/**
 * Classifies a request by its shape. The requests are all our own, and each kind has a parameter
 * that no other has; a new kind is `other` until it stands here.
 *
 * @param isMetadata - Whether a URL is a configured place of metadata.
 */
export function classifyIdpOperation(
  url: string,
  { method = 'GET', headers, body }: RequestInit = {},
  isMetadata: (url: string) => boolean = () => false,
): IdpOperation {
  if (method === 'POST') return classifyForm(body);
  if (method !== 'GET') return 'other';
  if (new Headers(headers).has('authorization')) return 'userinfo';
  return isMetadata(url) || METADATA_PATH.test(new URL(url).pathname) ? 'discovery' : 'jwks';
}

function classifyForm(body: RequestInit['body']): IdpOperation {
  if (typeof body !== 'string' && !(body instanceof URLSearchParams)) return 'other';
  const form = new URLSearchParams(body);
  switch (form.get('grant_type')) {
    case 'authorization_code':
      return 'token';
    case 'refresh_token':
      return 'refresh';
    case null:
      break;
    default:
      return 'other';
  }
  if (form.has('code_challenge')) return 'par';
  const hint = form.get('token_type_hint');
  if (hint === 'access_token') return 'introspection';
  return hint === 'refresh_token' ? 'revocation' : 'other';
}

function classifyOutcome(status: number): IdpOutcome {
  if (status === 429) return 'throttled';
  if (status >= 500) return 'server_error';
  return status >= 400 ? 'refused' : 'ok';
}

function isTimeout(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'TimeoutError';
}

function addressOf(input: string | URL | Request): string {
  return input instanceof Request ? input.url : String(input);
}
