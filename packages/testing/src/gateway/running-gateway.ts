/**
 * A gateway that listens on loopback for one test: its routes, its verdict, its events.
 *
 * @module
 */

import type { RouteGroup } from '@sallyport/protocol';
import { type Answer, type BackendHeaderPolicy, classifyCaller } from '@sallyport/server/verdict';
import { onTestFinished } from 'vitest';
import type { AnswerRequest, AskAnswer } from '../../../gateway/src/admission.ts';
import { createGateway, type Gateway, type GatewayOptions } from '../../../gateway/src/gateway.ts';

/** The public origin of every test; nothing listens there. */
export const PUBLIC_ORIGIN = 'https://flows.example.org';

/** Routes of one backend called `console`; gRPC method names end in what they are. */
export const TEST_ROUTES: readonly RouteGroup[] = [
  testGroup('closed', true, '/'),
  testGroup('open', false, '/open'),
  { ...testGroup('own', false, '/login'), forwardCredential: 'all' },
  { ...testGroup('events', true, '/events'), streaming: true },
  { ...testGroup('nowhere', true, '/nowhere'), backend: 'nowhere' },
  { ...testGroup('nowhere-open', false, '/nowhere-open'), backend: 'nowhere' },
  { ...testGroup('rpc', true, 'pkg.Unary'), forwardCredential: 'bearer' },
  testGroup('rpc-open', false, 'pkg.Open'),
  { ...testGroup('rpc-streams', true, 'pkg.Stream'), streaming: true },
];

/** Credentials as the test verdict knows them. */
export const POLICY: BackendHeaderPolicy = {
  bearerHeaders: new Set(['authorization', 'core-authorization']),
  stripHeaders: new Set(['x-secret-hint']),
  isSessionCookie: (name) => name === 'core_session',
  isAttemptCookie: (name) => name.startsWith('core_login_'),
};

/** The header that the test verdict admits. */
export const ADMITTED = { 'core-authorization': 'Bearer good' };

/** A verdict shaped as the server shapes it: one good bearer, one good session. */
export const testAnswer: AskAnswer = (request: AnswerRequest): Answer => {
  const isAdmitted =
    request.headers['core-authorization'] === 'Bearer good' ||
    (request.headers.cookie ?? '').includes('core_session=good');
  if (isAdmitted)
    return {
      outcome: 'admitted',
      identityHeaders: [
        ['x-user-subject', 'ada'],
        ['x-user-email', ''],
      ],
      setCookie: (request.headers.cookie ?? '').includes('slide=1')
        ? 'core_session=good; Max-Age=9'
        : undefined,
      body: '{}',
    };
  const noStore = ['cache-control', 'no-store'] as const;
  // Known, but not let in.
  const isKnown = request.headers['core-authorization'] === 'Bearer known';
  const kind = classifyCaller(request);
  if (kind === 'grpc' || kind === 'grpc-web')
    return {
      outcome: 'denied',
      status: 200,
      headers: [
        ['content-type', `application/${kind}`],
        ['grpc-status', isKnown ? '7' : '16'],
      ],
      body: '',
    };
  if (kind === 'connect')
    return {
      outcome: 'denied',
      status: isKnown ? 403 : 401,
      headers: [['content-type', 'application/json'], noStore],
      body: JSON.stringify({ code: isKnown ? 'permission_denied' : 'unauthenticated' }),
    };
  if (request.headers['sec-fetch-mode'] === 'navigate')
    return {
      outcome: 'denied',
      status: 302,
      headers: [
        ['location', `${PUBLIC_ORIGIN}/login?redirect_url=${encodeURIComponent(request.target)}`],
        noStore,
      ],
      body: '',
    };
  return {
    outcome: 'denied',
    status: 401,
    headers: [['content-type', 'application/problem+json'], noStore],
    body: JSON.stringify({ status: 401, request_id: request.requestId }),
  };
};

/** A gateway that listens. */
export interface TestGateway {
  readonly gateway: Gateway;
  readonly port: number;
  readonly origin: string;
  readonly events: readonly (readonly [event: string, fields: Readonly<Record<string, unknown>>])[];
}

/** Starts a gateway in front of the backends given, and closes it with the test. */
export async function startGateway(
  upstreams: { readonly http?: string; readonly grpc?: string },
  options: Partial<GatewayOptions> = {},
): Promise<TestGateway> {
  const events: [string, Readonly<Record<string, unknown>>][] = [];
  const gateway = createGateway({
    publicOrigin: PUBLIC_ORIGIN,
    routes: TEST_ROUTES,
    upstreamFor: ({ backend }, transport) =>
      backend === 'console' ? upstreams[transport] : undefined,
    answer: testAnswer,
    backendHeaders: POLICY,
    log: (event, fields) => events.push([event, fields]),
    ...options,
  });
  const { port } = await gateway.listen(0, '127.0.0.1');
  onTestFinished(() => gateway.close());
  return { gateway, port, origin: `http://127.0.0.1:${port}`, events };
}

function testGroup(name: string, isProtected: boolean, match: string): RouteGroup {
  return {
    name,
    transport: match.startsWith('/') ? 'http' : 'grpc',
    protected: isProtected,
    backend: 'console',
    matches: [match],
    forwardCredential: 'none',
    streaming: false,
  };
}
