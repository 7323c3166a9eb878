/**
 * Says on a terminal which server is waited for, once that takes noticeably long.
 *
 * @module
 */

import { type LineOutput, startWaiting, type WaitingLine } from './waiting-line.ts';

/** Where it is said, and when. */
export interface SlowRequestPorts {
  readonly output: LineOutput;
  /** Calls back after a time in milliseconds, unless it is cancelled by what it returns. */
  readonly schedule: (delayMs: number, callback: () => void) => () => void;
  /** The proxy through which a URL is reached; `undefined` when it is reached directly. */
  readonly findProxy: (url: URL) => string | undefined;
}

const SLOW_MS = 1_000;

/**
 * The same fetch, with a line for the first of the requests that have had no answer for a second. The line goes away with the answer; a
 * body that comes slowly is not waited for. Elsewhere than on a terminal nothing is written.
 *
 * For a command that shows no line of its own, and writes nothing while a request is under way.
 */
export function showSlowRequests(
  send: typeof fetch,
  { output, schedule, findProxy }: SlowRequestPorts,
): typeof fetch {
  const slow = new Set<{ readonly text: string }>();
  let line: WaitingLine | undefined;
  const show = (): void => {
    const [first] = slow;
    if (first === undefined) {
      line?.end();
      line = undefined;
    } else if (line === undefined) line = startWaiting(output, first.text);
    else line.update(first.text);
  };
  return async (input, init) => {
    if (output.isTTY !== true) return send(input, init);
    const request = { text: describe(input, findProxy) };
    const cancel = schedule(SLOW_MS, () => {
      slow.add(request);
      show();
    });
    try {
      return await send(input, init);
    } finally {
      cancel();
      if (slow.delete(request)) show();
    }
  };
}

/** Hosts alone: the rest of an address may hold a secret. */
function describe(
  input: Parameters<typeof fetch>[0],
  findProxy: SlowRequestPorts['findProxy'],
): string {
  const url = new URL(input instanceof Request ? input.url : input);
  const proxy = findProxy(url);
  const through = proxy === undefined ? '' : ` through the proxy ${URL.parse(proxy)?.host ?? ''}`;
  return `waiting for ${url.origin}${through}`;
}
