/**
 * What proves to the console that a request came through the gateway: every program of the machine can reach the
 * loopback, and could send identity headers of its own.
 *
 * @module
 */

import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AskAnswer } from '@sallyport/gateway';

/** The header that carries the key from the gateway to the console. */
const HEADER = 'x-console-key';

/** Makes the key of one start: 256 random bits. It stays in this process. */
export function createConsoleKey(): string {
  return randomBytes(32).toString('base64url');
}

/** Adds the key to the identity headers of every admission. A copy that the client sent makes both invalid. */
export function addConsoleKey(ask: AskAnswer, key: string): AskAnswer {
  return async (request) => {
    const answer = await ask(request);
    return answer.outcome === 'admitted'
      ? { ...answer, identityHeaders: [...answer.identityHeaders, [HEADER, key]] }
      : answer;
  };
}

/** Whether a request carries the key, and so the identity headers are the gateway's. */
export function carriesConsoleKey(
  { headers }: Pick<IncomingMessage, 'headers'>,
  key: string,
): boolean {
  const found = Buffer.from(String(headers[HEADER] ?? ''));
  const wanted = Buffer.from(key);
  return found.length === wanted.length && timingSafeEqual(found, wanted);
}
