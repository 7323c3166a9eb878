/**
 * Waits for the browser to come back.
 *
 * @module
 */

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { TokenRefusal } from '../grant.ts';
import { type ExpectedAnswer, parseAuthorizationAnswer } from './authorization-answer.ts';
import {
  type CallbackPage,
  failedPage,
  foreignPage,
  plainAnswer,
  signedInPage,
} from './callback-page.ts';
import { listenLoopback } from './listen-loopback.ts';
import type { LoopbackRedirect } from './redirect-uri.ts';

/** An answer, or that there is none. */
export type AnswerOutcome = Result<{ readonly code: string }, TokenRefusal>;

/** Receives the answer of one attempt. */
export interface AnswerReceiver {
  /** Settles with the first answer that is ours; never rejects. */
  readonly answer: Promise<AnswerOutcome>;
  /**
   * Takes an answer that was pasted: the address the browser ended at, or its query.
   *
   * @returns Why it is none; `undefined` when it was taken.
   */
  takePasted(text: string): string | undefined;
  /**
   * Whether so many connections were open that some had to make way: then the browser's may have been
   * among them.
   */
  isCrowded(): boolean;
  /**
   * Shows the browser how it ended, then stops listening. Until then the browser waits, so that it
   * never shows a success that does not come.
   */
  finish(outcome: Result<unknown, TokenRefusal>): Promise<void>;
}

/**
 * Listens for the answer.
 *
 * Only GET on the exact path with the redirect URI's own `Host` is looked at, since a name that leads
 * to the loopback (DNS rebinding) would make any page a caller. Anything else is answered and changes
 * nothing: browsers ask for icons.
 *
 * @returns The receiver; or the refusal of {@link listenLoopback}.
 */
export async function receiveAnswer(
  redirect: LoopbackRedirect,
  expected: ExpectedAnswer,
): Promise<Result<AnswerReceiver, TokenRefusal>> {
  const { promise: answer, resolve: settle } = Promise.withResolvers<AnswerOutcome>();
  const waiting = new Set<ServerResponse>();

  const handler: RequestListener = (request, response) => {
    // The body of no request is of interest, and one that stays unread would reset the connection.
    request.resume();
    const target = readTarget(request, redirect);
    if (typeof target === 'number') return send(response, plainAnswer(target));
    const judged = parseAuthorizationAnswer(target, expected);
    if (judged.kind === 'foreign') return send(response, foreignPage());
    waiting.add(response);
    response.once('close', () => waiting.delete(response));
    settle(judged.outcome);
  };
  const listeners = await listenLoopback(redirect, handler);
  if (!listeners.ok) return listeners;

  return accept({
    answer,
    isCrowded: () => listeners.value.isCrowded(),
    takePasted(text) {
      const query = readPasted(text, redirect);
      if (query === undefined)
        return `This is not the address the browser ended at: it begins with ${redirect.text}?`;
      const judged = parseAuthorizationAnswer(query, expected);
      if (judged.kind === 'foreign') return 'This is the answer to another attempt.';
      settle(judged.outcome);
      return undefined;
    },
    async finish(outcome) {
      settle(refuse({ error: 'login_cancelled', description: 'The attempt has ended.', hint: '' }));
      const page = outcome.ok ? signedInPage() : failedPage(outcome.error);
      await Promise.all([...waiting].map((response) => sent(response, page)));
      await listeners.value.close();
    },
  });
}

/** The query of a request that is a callback; otherwise the status to answer. */
function readTarget(
  { method, url = '', headers }: IncomingMessage,
  { path, hostHeader }: LoopbackRedirect,
): URLSearchParams | 400 | 404 | 405 {
  if (headers.host?.toLowerCase() !== hostHeader) return 400;
  const [target = '', query = ''] = splitOnce(url, '?');
  if (target !== path) return 404;
  return method === 'GET' ? new URLSearchParams(query) : 405;
}

function readPasted(text: string, redirect: LoopbackRedirect): URLSearchParams | undefined {
  const [address = '', query] = splitOnce(text.trim(), '?');
  if (query === undefined || query.length > 16_384) return undefined;
  if (address !== '' && address !== redirect.text) return undefined;
  return new URLSearchParams(query.replace(/#.*$/s, ''));
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function send(response: ServerResponse, { status, headers, body }: CallbackPage): void {
  response.writeHead(status, headers).end(body);
}

/** Resolves once the page has left, or the browser has. */
function sent(response: ServerResponse, page: CallbackPage): Promise<void> {
  return new Promise((resolve) => {
    response.once('finish', resolve).once('close', resolve);
    if (response.destroyed) resolve();
    else send(response, page);
  });
}
