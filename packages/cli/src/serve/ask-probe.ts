/**
 * Asks a running service for its health, as an orchestrator does.
 *
 * @module
 */

import { request } from 'node:http';
import { accept, PATHS, type Result, refuse } from '@sallyport/protocol';

/** A probe of the service. */
export type Probe = 'ready' | 'alive';

/** Where the service is asked. */
export type ProbedPlace =
  | { readonly host: string; readonly port: number }
  | { readonly socketPath: string };

/** Why a probe failed. */
export interface ProbeFailure {
  readonly error: 'not_ready' | 'bad_answer' | 'unreachable';
  /** Completes "PLACE: …". */
  readonly why: string;
}

interface Answer {
  readonly code: number;
  readonly text: string;
}

const PROBES: Readonly<Record<Probe, { readonly path: string; readonly status: string }>> = {
  ready: { path: PATHS.readyz, status: 'ready' },
  alive: { path: PATHS.healthz, status: 'ok' },
};
/** An answer of the service has some hundred characters. */
const ANSWER_MAX_LENGTH = 4_096;
const WAITED_FOR_MAX = 8;

/**
 * Sends one request and follows no redirect. An answer counts only with the words of this service: another
 * program on the port, or a proxy's page, is no success.
 *
 * @param timeoutMs - For connection and answer together.
 */
export async function askProbe(
  place: ProbedPlace,
  probe: Probe,
  timeoutMs: number,
): Promise<Result<undefined, ProbeFailure>> {
  const { path, status: expected } = PROBES[probe];
  const signal = AbortSignal.timeout(timeoutMs);
  let answer: Answer;
  try {
    answer = await get(place, path, signal);
  } catch (cause) {
    const why = signal.aborted ? `no answer within ${timeoutMs / 1_000} s` : describeCause(cause);
    return refuse({ error: 'unreachable', why });
  }
  const { status, waiting_for: waitedFor } = parse(answer.text);
  if (answer.code === 200 && status === expected) return accept(undefined);
  if (answer.code === 503 && status === 'not_ready')
    return refuse({ error: 'not_ready', why: `not ready${describeWait(waitedFor)}` });
  return refuse({
    error: 'bad_answer',
    why: `${path} was answered with ${answer.code}, and not as "sallyport serve" and "sallyport agent" do; "sallyport up --upstream" has no probe`,
  });
}

function get(place: ProbedPlace, path: string, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // The service decides nothing by this name.
    const headers = { host: 'localhost', connection: 'close' };
    const sent = request({ ...place, path, headers, agent: false, signal }, (answer) => {
      let text = '';
      const finish = (read: string): void => {
        resolve({ code: answer.statusCode ?? 0, text: read });
        answer.destroy();
      };
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => {
        text += piece;
        if (text.length > ANSWER_MAX_LENGTH) finish('');
      });
      answer.once('end', () => finish(text));
      answer.once('error', reject);
    });
    sent.once('error', reject);
    sent.end();
  });
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function describeWait(waitedFor: unknown): string {
  const names = (Array.isArray(waitedFor) ? waitedFor : [])
    .filter((name): name is string => typeof name === 'string' && /^[a-z_]{1,32}$/.test(name))
    .slice(0, WAITED_FOR_MAX);
  return names.length === 0 ? '' : `, waits for ${names.join(', ')}`;
}

function describeCause(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'failed';
  return code === 'ECONNREFUSED' ? 'connection refused' : `no answer (${code})`;
}
