/**
 * Answers of nginx itself, when the check or a backend has none it can pass on: in the caller's protocol.
 *
 * @module
 */

import {
  formatConnectError,
  formatProblemDocument,
  listGrpcStatus,
  PROBLEM_CONTENT_TYPE,
  type RpcCode,
} from '@sallyport/protocol';
import { HEADER } from './headers.ts';

/** One reason, and how each protocol says it. */
interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly title: string;
  readonly code: RpcCode;
  /** Where a person would sign in; on 401 only. */
  readonly loginUrl?: string;
  readonly headers?: readonly string[];
}

const SET_COOKIE = 'Set-Cookie $sallyport_set_cookie';
const NO_STORE = 'Cache-Control no-store';

const REFUSALS: readonly Refusal[] = [
  {
    status: 401,
    reason: 'unauthenticated',
    title: 'Sign in first',
    code: 16,
    loginUrl: '$sallyport_public_scheme://$sallyport_public_host/login',
    headers: [SET_COOKIE],
  },
  {
    status: 403,
    reason: 'forbidden',
    title: 'This request may not enter',
    code: 7,
    headers: [SET_COOKIE],
  },
  {
    status: 413,
    reason: 'request_too_large',
    title: 'The request is too large',
    code: 8,
    headers: [SET_COOKIE],
  },
  {
    status: 502,
    reason: 'upstream_unreachable',
    title: 'The service cannot be reached',
    code: 14,
    headers: [SET_COOKIE],
  },
  {
    status: 503,
    reason: 'undecided',
    title: 'Your access cannot be verified at the moment',
    code: 14,
    headers: ['Retry-After $sallyport_wait'],
  },
  {
    // Not UNAVAILABLE: clients repeat that, and the call may have been carried out.
    status: 504,
    reason: 'upstream_timeout',
    title: 'The service did not answer in time',
    code: 4,
    headers: [SET_COOKIE],
  },
];

/** A gRPC call that no route group names, once it is admitted. */
const NOT_SERVED: Refusal = {
  status: 404,
  reason: 'route_not_served',
  title: 'No service answers this route here',
  code: 12,
  headers: [SET_COOKIE],
};

/** Renders `refusals.conf`. */
export function renderRefusals(): string {
  const locations = [
    ...REFUSALS.flatMap((refusal) => [
      problem(refusal),
      connectError(refusal),
      grpcStatus('grpc', refusal),
      grpcStatus('grpc_web', refusal),
    ]),
    grpcStatus('grpc', NOT_SERVED),
  ];
  return `${HEADER}
# "types {}" because nginx would otherwise choose the type by the ending of the path. The error_page
# keeps those of the server away, which would take the answers for errors of their own.
${PAGES}${locations.join('')}`;
}

function problem({ headers = [], ...refusal }: Refusal): string {
  const { status } = refusal;
  const document = formatProblemDocument({ ...refusal, requestId: '$sallyport_request_id' });
  return answer(`${status}_program`, PROBLEM_CONTENT_TYPE, headers, [status, `${document}\\n`]);
}

function connectError({ headers = [], ...refusal }: Refusal): string {
  const { status, code } = refusal;
  const body = formatConnectError(code, refusal);
  return answer(`${status}_connect`, 'application/json', headers, [status, body]);
}

/** Without a body, and so without trailers: gRPC reads the status from the headers, whose HTTP status is 200. */
function grpcStatus(protocol: 'grpc' | 'grpc_web', { headers = [], ...refusal }: Refusal): string {
  const { status, code } = refusal;
  const fields = listGrpcStatus(code, refusal).map(([name, value]) =>
    name === 'grpc-message' ? `${name} '${value}'` : `${name} ${value}`,
  );
  const type = `application/${protocol.replace('_', '-')}`;
  return answer(`${status}_${protocol}`, type, [...headers, ...fields], [200, '']);
}

function answer(
  name: string,
  type: string,
  headers: readonly string[],
  [status, body]: readonly [number, string],
): string {
  const added = [...headers, NO_STORE].map((field) => `    add_header ${field} always;\n`).join('');
  return `
location @sallyport_${name} {
    types {}
    default_type ${type};
    error_page 599 /;
${added}    return ${status} '${body}';
}
`;
}

const PAGES = `
location @sallyport_401_page {
    absolute_redirect off;
    error_page 599 /;
    add_header Set-Cookie $sallyport_set_cookie always;
    add_header Cache-Control no-store always;
    return 302 $sallyport_sign_in;
}

location @sallyport_403_page {
    types {}
    default_type text/html;
    error_page 599 /;
    add_header Set-Cookie $sallyport_set_cookie always;
    add_header Cache-Control no-store always;
    add_header Content-Security-Policy "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" always;
    add_header X-Content-Type-Options nosniff always;
    return 403 '<!doctype html>\\n<html lang="en">\\n<meta charset="utf-8">\\n<meta name="viewport" content="width=device-width, initial-scale=1">\\n<meta name="color-scheme" content="light dark">\\n<title>You may not open this</title>\\n<h1>You may not open this</h1>\\n<p>You are signed in, but the rules of this platform do not admit this account, or another site asked in your name.</p>\\n<p><a href="/">Start page</a></p>\\n<p><a href="/logout">Use another account</a></p>\\n<p>Reason <code>forbidden</code>, request <code>$sallyport_request_id</code></p>\\n</html>\\n';
}
`;
