/**
 * A load of wrk against one URL, on the core of the load.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runOnLoadCore } from '../process/pinned.ts';
import { inWorkFolder } from '../process/work-folder.ts';

/** What one load gave. */
export interface Load {
  readonly requests: number;
  readonly seconds: number;
  /** Received. */
  readonly bytes: number;
  /** Answers of status 400 and above. */
  readonly refused: number;
  /** Connections that failed, and requests without an answer in time. */
  readonly broken: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Settings of a load. */
export interface LoadOptions {
  readonly seconds: number;
  readonly connections: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A Lua script that makes the requests. */
  readonly script?: string | undefined;
}

/** At the end, and so at no cost to the load: exact numbers in place of rounded ones. */
const REPORT = `
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\\nRESULT {"requests":%d,"microseconds":%d,"bytes":%d,"refused":%d,"broken":%d,"p50":%d,"p99":%d}\\n',
    summary.requests, summary.duration, summary.bytes, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
`;

/** Runs wrk for some seconds. */
export async function load(url: string, options: LoadOptions): Promise<Load> {
  const { seconds, connections, headers, script = '' } = options;
  const stdout = await inWorkFolder((folder) => {
    const file = join(folder, 'load.lua');
    writeFileSync(file, script + REPORT);
    return runOnLoadCore([
      ...['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '-s', file],
      ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
      url,
    ]);
  });
  const result = /^RESULT (.*)$/m.exec(stdout)?.[1];
  if (result === undefined) throw new Error(`wrk printed no result:\n${stdout}`);
  const { microseconds, p50, p99, ...counts } = JSON.parse(result) as Result;
  return { ...counts, seconds: microseconds / 1_000_000, p50: p50 / 1_000, p99: p99 / 1_000 };
}

/** Times in microseconds. */
type Result = Omit<Load, 'seconds'> & { readonly microseconds: number };
