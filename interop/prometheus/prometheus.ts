/**
 * A real Prometheus in a folder of its own, scraping one port of this machine.
 *
 * @module
 */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { exchange } from '../../conformance/wire/exchange.ts';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { findPart, type Part, requirePart } from '../parts.ts';

/** The server. */
export const PROMETHEUS: Part = findPart('prometheus');
/** The tool that comes with it. */
export const PROMTOOL: Part = findPart('promtool');

/** What is to be scraped, and which rules are evaluated. */
export interface PrometheusOptions {
  /** `/metrics` of this port, as the job `sallyport`. */
  readonly target: number;
  /** Absolute path. */
  readonly ruleFile: string;
}

/** One result of a query. */
export interface QueryResult {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [at: number, value: string];
}

/** A running server. */
export interface Prometheus {
  /** Asks its API; gives `data`. @throws With what it answers when that is no success. */
  ask<T>(path: string, parameters?: Readonly<Record<string, string>>): Promise<T>;
  /** Evaluates a query now. */
  query(expression: string): Promise<readonly QueryResult[]>;
  stop(): Promise<void>;
}

const READY_MS = 60_000;
const LOOK_EVERY_MS = 50;

/** Starts it on a free port of the loopback; scrapes and evaluates every second. */
export async function startPrometheus({
  target,
  ruleFile,
}: PrometheusOptions): Promise<Prometheus> {
  const program = requirePart(PROMETHEUS);
  const folder = temporaryFolder();
  const port = await freePort();
  const configuration = join(folder.path, 'prometheus.yml');
  writeFileSync(
    configuration,
    JSON.stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [ruleFile],
      scrape_configs: [
        { job_name: 'sallyport', static_configs: [{ targets: [`127.0.0.1:${target}`] }] },
      ],
    }),
  );
  const child = spawn(
    program,
    [
      `--config.file=${configuration}`,
      `--storage.tsdb.path=${join(folder.path, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(url, child).catch(async (error: unknown) => {
    await end(child);
    folder.remove();
    throw new Error(`Prometheus is not ready\n${said}`, { cause: error });
  });

  async function ask<T>(
    path: string,
    parameters: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    const { body } = await exchange(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const answer = JSON.parse(body) as {
      readonly status: string;
      readonly error?: string;
      readonly data: T;
    };
    if (answer.status !== 'success')
      throw new Error(`${answer.error}: ${JSON.stringify(parameters)}`);
    return answer.data;
  }

  return {
    ask,
    async query(expression) {
      const { result } = await ask<{ readonly result: readonly QueryResult[] }>('query', {
        query: expression,
      });
      return result;
    },
    async stop() {
      await end(child);
      folder.remove();
    },
  };
}

/** Runs promtool; gives its exit code and all it says. */
export function runPromtool(
  args: readonly string[],
  input = '',
): Promise<{ readonly code: number; readonly said: string }> {
  return new Promise((resolve) => {
    const child = execFile(requirePart(PROMTOOL), [...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr }),
    );
    child.stdin?.end(input);
  });
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  const until = performance.now() + READY_MS;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    const status = await exchange(`${url}/-/ready`).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return;
    if (performance.now() > until) throw new Error(`last answered with ${status}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  await ended;
}
