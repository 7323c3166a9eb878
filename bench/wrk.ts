/**
 * A load of wrk against one URL, pinned to a core of its own.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What one load gave. */
export interface Load {
  readonly requestsPerSecond: number;
  /** Answers that were not 2xx or 3xx, and broken connections. */
  readonly failures: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

const run = promisify(execFile);

/** Runs wrk for some seconds. @throws When wrk is not installed. */
export async function load(
  url: string,
  options: {
    readonly core: number;
    readonly seconds: number;
    readonly connections: number;
    readonly headers: Readonly<Record<string, string>>;
    /** A Lua script that makes the requests. */
    readonly script?: string;
  },
): Promise<Load> {
  const { core, seconds, connections, headers, script } = options;
  const { stdout } = await run('taskset', [
    '-c',
    String(core),
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--latency',
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    ...(script === undefined ? [] : ['-s', script]),
    url,
  ]);
  return {
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
    failures:
      Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0) +
      [...(/Socket errors:.*/.exec(stdout)?.[0].matchAll(/\d+/g) ?? [])].reduce(
        (sum, [count]) => sum + Number(count),
        0,
      ),
    p50: milliseconds(/50%\s+([\d.]+)(us|ms|s)/.exec(stdout)),
    p99: milliseconds(/99%\s+([\d.]+)(us|ms|s)/.exec(stdout)),
  };
}

function milliseconds(match: RegExpExecArray | null): number {
  const scale = { us: 0.001, ms: 1, s: 1_000 }[match?.[2] ?? 'ms'] ?? 1;
  return Number(match?.[1]) * scale;
}
