/**
 * A load of h2load against one URL, over HTTP/2, on the core of the load.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runOnLoadCore } from '../process/pinned.ts';
import { inWorkFolder } from '../process/work-folder.ts';
import type { Load } from './wrk.ts';

/** Settings of a load. */
export interface Http2LoadOptions {
  readonly seconds: number;
  readonly connections: number;
  /** Streams at once on each connection. */
  readonly streams: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Posts the same body for some seconds. */
export async function loadHttp2(url: string, options: Http2LoadOptions): Promise<Load> {
  const { seconds, connections, streams, headers, body } = options;
  return inWorkFolder(async (folder) => {
    const [log, content] = [join(folder, 'log'), join(folder, 'body')];
    writeFileSync(content, body);
    const stdout = await runOnLoadCore([
      ...['h2load', `-D${seconds}`, `-c${connections}`, `-m${streams}`],
      ...[`-d${content}`, `--log-file=${log}`],
      ...Object.entries(headers).map(([name, value]) => `-H${name}: ${value}`),
      url,
    ]);
    // One line a request: when it was sent, its status, and how many microseconds it took.
    const answers = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split('\t').map(Number));
    const times = answers.map(([, , time = 0]) => time).toSorted((a, b) => a - b);
    const at = (part: number) => (times[Math.floor(times.length * part)] ?? 0) / 1_000;
    const [, failed, errored] = /(\d+) failed, (\d+) errored/.exec(stdout) ?? [];
    return {
      requests: times.length,
      seconds,
      bytes: 0,
      refused: answers.filter(([, status = 0]) => status >= 400).length,
      broken: Number(failed) + Number(errored),
      p50: at(0.5),
      p99: at(0.99),
    };
  });
}
