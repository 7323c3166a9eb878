/**
 * Bare node:http that answers given bytes: what any check in Node is measured against.
 *
 * @module
 */

import { join } from 'node:path';
import { exchange } from '../../conformance/wire/exchange.ts';
import type { Ends } from '../process/ends.ts';
import { type PinnedProcess, SERVER_CORE, startPinned, waitForLine } from '../process/pinned.ts';

/** The running server. */
export interface Bare {
  readonly url: string;
  readonly process: PinnedProcess;
}

/** Added by node:http itself. */
const OWN_HEADERS = new Set(['date', 'connection', 'keep-alive']);
const PROGRAM = join(import.meta.dirname, '..', 'bare-server.js');

/** Starts a server that answers everything with what another one answers to one request. */
export async function startBare(
  ends: Ends,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<Bare> {
  const answer = await exchange(url, { headers });
  const flat = Object.entries(answer.headers).flatMap(([name, value]) =>
    OWN_HEADERS.has(name) ? [] : [name, String(value)],
  );
  const input = JSON.stringify({ status: answer.status, headers: flat, body: answer.body });
  const running = startPinned(ends, SERVER_CORE, [process.execPath, PROGRAM], { input });
  const origin = await waitForLine(running, /^ready (\S+)/m);
  return { url: `${origin}${new URL(url).pathname}`, process: running };
}
