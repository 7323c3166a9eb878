/**
 * Answers of the agent: the token, its header line, and probes.
 *
 * @module
 */

import { randomUUID } from 'node:crypto';
import type { Exchange } from '@sallyport/gateway/listeners';
import {
  formatProblemDocument,
  type HeaderPair,
  PATHS,
  PROBLEM_CONTENT_TYPE,
} from '@sallyport/protocol';
import { formatToken } from '../sign-in/format-token.ts';
import type { GuardReason } from './request-guard.ts';
import type { HeldToken, TokenKeeper, Unavailable } from './token-keeper.ts';

const TOKEN_PATH = '/token';
const HEADER_PATH = '/header';
const ACCESS_TOKEN_PATH = '/access-token';
const COMMON: readonly HeaderPair[] = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
];
const TEXT_TYPE: HeaderPair = ['content-type', 'text/plain; charset=utf-8'];
const JSON_TYPE: HeaderPair = ['content-type', 'application/json'];

/** Statuses and sentences of what a door refuses. */
export const GUARD_ANSWERS: Readonly<
  Record<GuardReason, { readonly status: number; readonly title: string }>
> = {
  from_browser: { status: 403, title: 'A browser sent this request; the agent answers programs' },
  host_foreign: { status: 421, title: 'This request names another host' },
  capability_missing: { status: 401, title: 'This request has no capability' },
  capability_wrong: { status: 401, title: 'This capability is not the one of this agent' },
};

/** Answers a request that has passed the guard. Never throws. */
export async function answerRequest(exchange: Exchange, keeper: TokenKeeper): Promise<void> {
  const path = exchange.target.split('?', 1)[0] ?? '';
  const answer = ANSWERS.get(path);
  if (answer === undefined)
    return sendProblem(exchange, 404, 'not_found', 'The agent has nothing here');
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD')
    return sendProblem(exchange, 405, 'method_not_supported', 'This can only be read', [
      ['allow', 'GET, HEAD'],
    ]);
  await answer(exchange, keeper);
}

type AnswerOne = (exchange: Exchange, keeper: TokenKeeper) => Promise<void>;

const ANSWERS: ReadonlyMap<string, AnswerOne> = new Map<string, AnswerOne>([
  [
    TOKEN_PATH,
    giveToken((held) => [JSON_TYPE, `${formatToken(held.tokens, held.header, { json: true })}\n`]),
  ],
  [
    HEADER_PATH,
    giveToken((held) => [
      TEXT_TYPE,
      `${formatToken(held.tokens, held.header, { header: true })}\n`,
    ]),
  ],
  [
    ACCESS_TOKEN_PATH,
    giveToken((held) => [TEXT_TYPE, `${formatToken(held.tokens, held.header, {})}\n`]),
  ],
  [PATHS.healthz, async (exchange) => sendJson(exchange, 200, { status: 'ok' })],
  [
    PATHS.readyz,
    async (exchange, keeper) => {
      const { isUsable, outage } = keeper.status();
      if (isUsable) return sendJson(exchange, 200, { status: 'ready' });
      sendJson(exchange, 503, {
        status: 'not_ready',
        waiting_for: ['token'],
        ...(outage === undefined
          ? {}
          : {
              since: new Date(outage.since).toISOString(),
              why: keeper.cleanse(outage.description),
            }),
      });
    },
  ],
]);

function giveToken(format: (held: HeldToken) => readonly [HeaderPair, string]): AnswerOne {
  return async (exchange, keeper) => {
    const gone = new AbortController();
    exchange.onClose(() => gone.abort());
    const got = await keeper.get(gone.signal);
    if (exchange.isClosed) return;
    if (!got.ok) return sendUnavailable(exchange, got.error);
    const [type, body] = format(got.value);
    exchange.send(200, [...COMMON, type], body);
  };
}

function sendUnavailable(exchange: Exchange, { reason, sentence }: Unavailable): void {
  sendProblem(exchange, 503, reason, sentence, [['retry-after', '1']]);
}

/** Sends a problem document (RFC 9457). */
export function sendProblem(
  exchange: Exchange,
  status: number,
  reason: string,
  title: string,
  headers: readonly HeaderPair[] = [],
): void {
  if (exchange.isClosed) return;
  const document = formatProblemDocument({ title, status, reason, requestId: randomUUID() });
  const type: HeaderPair = ['content-type', PROBLEM_CONTENT_TYPE];
  exchange.send(status, [...COMMON, type, ...headers], `${document}\n`);
}

function sendJson(exchange: Exchange, status: number, body: object): void {
  if (!exchange.isClosed)
    exchange.send(status, [...COMMON, JSON_TYPE], `${JSON.stringify(body)}\n`);
}
