/**
 * Calls with and without the token of a service, with nothing behind them.
 *
 * Imports the packages' sources: see `from-source.ts`.
 *
 * @module
 */

import { createAuthenticatedFetch, createServiceTokenSource, type Grant } from '@sallyport/client';
import { createAuthenticatingInterceptor } from '@sallyport/client/connect';

/** The same call twice. */
interface AttachedCall {
  readonly name: string;
  /** Whether it is all of what a service pays, or a part of that. */
  readonly isWhole: boolean;
  readonly plain: () => Promise<unknown>;
  readonly attached: () => Promise<unknown>;
}

type Interceptor = ReturnType<typeof createAuthenticatingInterceptor>;
type ConnectCall = Parameters<ReturnType<Interceptor>>[0];
type ConnectAnswer = Awaited<ReturnType<ReturnType<Interceptor>>>;

const ENDPOINT = 'https://platform.example';
const URL_OF_CALL = `${ENDPOINT}/flyteidl.service.AdminService/GetVersion`;
const HEADER = 'flyte-authorization';
const LIFETIME_MS = 3_600_000;
const SCOPES = ['all'];
const KEY = {
  issuer: 'https://idp.example',
  tokenEndpoint: 'https://idp.example/token',
  endpoint: ENDPOINT,
  clientId: 'service',
  scopes: SCOPES,
  audience: ENDPOINT,
};
/** As long as an access token usually is. */
const ACCESS_TOKEN = 'x'.repeat(900);
const GRANT: Grant = {
  kind: 'client_credentials',
  isInteractive: false,
  obtain: async () => {
    const obtainedAt = Date.now();
    return {
      ok: true,
      value: {
        accessToken: ACCESS_TOKEN,
        obtainedAt,
        expiresAt: obtainedAt + LIFETIME_MS,
        refreshToken: undefined,
        scopes: SCOPES,
      },
    };
  },
};

/** Makes the calls; a token is at hand from then on. */
export async function openAttachedCalls(): Promise<{
  readonly calls: readonly AttachedCall[];
  readonly close: () => void;
}> {
  const source = createServiceTokenSource({
    compose: async () => ({ key: KEY, grant: GRANT }),
    now: Date.now,
    wait: async () => {},
    refreshWindowMs: 300_000,
    startSpreadMs: 0,
  });
  const first = await source.get();
  if (!first.ok) throw new Error(first.error.error);
  const attachment = { source, endpoint: ENDPOINT, header: async () => HEADER };

  const answer = new Response('');
  const plainFetch: typeof fetch = async () => answer;
  const tokenFetch = createAuthenticatedFetch({ ...attachment, fetch: plainFetch });
  const init = { headers: { accept: 'application/json' } };

  const next = async (_call: ConnectCall): Promise<ConnectAnswer> =>
    ({ stream: false }) as ConnectAnswer;
  const intercepted = createAuthenticatingInterceptor(attachment)(next);
  const { signal } = new AbortController();
  const toCall = (): ConnectCall =>
    ({ stream: false, url: URL_OF_CALL, signal, header: new Headers() }) as ConnectCall;

  return {
    calls: [
      {
        name: 'fetch',
        isWhole: true,
        plain: () => plainFetch(URL_OF_CALL, init),
        attached: () => tokenFetch(URL_OF_CALL, init),
      },
      {
        name: 'Connect and gRPC',
        isWhole: true,
        plain: () => next(toCall()),
        attached: () => intercepted(toCall()),
      },
      {
        name: "of that Node's check of the header's value",
        isWhole: false,
        plain: async () => new Headers(),
        attached: async () => new Headers().set(HEADER, `Bearer ${ACCESS_TOKEN}`),
      },
    ],
    close: () => source.close(),
  };
}
