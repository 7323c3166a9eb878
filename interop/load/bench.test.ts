import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../../bench/command.ts';
import { interleave } from '../../bench/load/interleave.ts';
import { renderChart } from '../../bench/report/chart.ts';
import { renderPage } from '../../bench/report/page.ts';
import { judge, type Report } from '../../bench/report/report.ts';
import { renderTable } from '../../bench/report/table.ts';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { findPart } from '../parts.ts';

const WRK = findPart('wrk');
const PROGRAM = new URL('../../bench/main.ts', import.meta.url).pathname;
const ANSWER_MS = 1;
const PLAN = { rounds: 1, seconds: 1, connections: 4 };

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** What a load of a server comes to whose answers all have to be of one status; it needs a millisecond for each. */
async function measure(status: number, listener: RequestListener, names: readonly string[]) {
  const url = await serve((req, res) => void setTimeout(listener, ANSWER_MS, req, res));
  const samples = [{ headers: {}, status }];
  const candidates = names.map((name) => ({ name, url, samples, pids: () => [process.pid] }));
  return interleave(candidates, PLAN, () => {});
}

/** The command in a process of its own. */
async function bench(args: readonly string[], path = process.env['PATH'] ?? '') {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { PATH: path, HOME: process.env['HOME'] ?? '' },
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}

/** The command in this process, for what starts nothing. */
async function evaluate(args: readonly string[]) {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const lines = {
    log: (line: string) => stdout.push(`${line}\n`),
    error: (line: string) => stderr.push(`${line}\n`),
  };
  const code = await runCommand(args, lines);
  return { code, stdout: stdout.join(''), stderr: stderr.join('') };
}

describe.skipIf(WRK.isLeftOut)('npm run bench: what candidates answer', () => {
  it('is measured in turn, round by round, when every answer is the expected one', async () => {
    const [one, other] = await measure(200, (_, res) => res.end('{}'), ['it', 'other']);
    expect([one?.length, other?.length]).toEqual([1, 1]);
    expect(one?.[0]?.requestsPerSecond).toBeGreaterThan(100);
    expect(one?.[0]?.p99).toBeGreaterThanOrEqual(one?.[0]?.p50 ?? Number.NaN);
    expect(one?.[0]?.cpuMicroseconds).toBeGreaterThan(0);
    expect(one?.[0]?.rssBytes).toBeGreaterThan(10_000_000);
  });

  it('may be refusals, when refusals have to come', async () => {
    const [one] = await measure(401, (_, res) => res.writeHead(401).end(), ['it']);
    expect(one).toHaveLength(1);
  });

  it.each<[string, number, (n: number) => [status: number, body: string] | undefined]>([
    ['one refusal in a hundred', 200, (n) => [n % 100 === 50 ? 503 : 200, '{}']],
    ['one admission in a hundred refusals', 401, (n) => [n % 100 === 50 ? 200 : 401, '{}']],
    ['redirects', 200, (n) => (n % 2 === 1 ? [302, 'x'.repeat(200)] : [200, '{}'])],
    ['another status from the first one on', 200, () => [401, '{}']],
    ['connections that break', 200, (n) => (n % 100 === 50 ? undefined : [200, '{}'])],
  ])('ends the case when there is something else among it: %s', async (_, status, answer) => {
    let n = -1;
    const listener: RequestListener = (_req, res) => {
      n += 1;
      const [actual, body] = answer(n) ?? [];
      if (actual === undefined) res.destroy();
      else res.writeHead(actual).end(body);
    };
    await expect(measure(status, listener, ['it'])).rejects.toThrow(/^it(?: |:)/);
  });
});

describe.skipIf(WRK.isLeftOut)('npm run bench: the command', () => {
  it('writes what it measured as JSON, and makes the same table from that', async () => {
    const folder = temporaryFolder();
    onTestFinished(() => folder.remove());
    const file = join(folder.path, 'report.json');
    const run = await bench(['refused', '--rounds', '1', '--seconds', '1', '--json', file]);
    expect(run.code, run.stderr).toBe(0);
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
    expect(report.cases.map(({ name, failure }) => [name, failure])).toEqual([
      ['refused', undefined],
    ]);
    const names = report.cases[0]?.measured.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['Sallyport', 'bare node:http']));
    expect(names?.includes('oauth2-proxy')).toBe(report.leftOut.length === 0);
    expect(report.environment.versions).toMatchObject({ wrk: expect.stringMatching(/^\d/) });
    expect((await evaluate(['--from', file])).stdout).toBe(run.stdout);
  });

  it('names a part that is missing, and what installs it, and goes on', async () => {
    const { code, stdout } = await bench(['refused'], '/nonexistent');
    expect(code).toBe(0);
    expect(stdout).toContain('left out: refused: ');
    expect(stdout).toMatch(/wrk (?:is|are) not installed \(apt-get install .*wrk\)/);
    expect(stdout).toContain('left out: everything against oauth2-proxy');
  });

  it.each(['--help', '-h'])('says how to call it, and measures nothing: %s', async (option) => {
    const { code, stdout, stderr } = await evaluate([option]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^usage: npm run bench /);
    expect(stdout).toMatch(/^ {2}me {2,}/m);
  });

  it.each([
    [['no-such-case'], 'there is no case no-such-case'],
    [['--rounds', '0'], '--rounds'],
    [['--no-such-option'], '--no-such-option'],
  ])('refuses %j, and names the cases there are', async (args, message) => {
    const { code, stderr } = await evaluate(args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^ {2}me {2,}/m);
  });
});

describe('npm run bench: what was found', () => {
  const summary = (median: number) => ({ median, least: median - 1, most: median + 1 });
  const candidate = (name: string, rate: number) => ({
    name,
    rounds: [],
    requestsPerSecond: summary(rate),
    p50: summary(2),
    p99: summary(3),
    cpuMicroseconds: summary(4),
    ...{ rssBytes: 100_000_000, largestBytes: 100_000_000 },
  });
  const report = (findings: Report['cases'][number]['findings']): Report => ({
    ...{ format: 1, at: '2026-11-21T12:00:00Z', command: 'npm run bench', rounds: 7, seconds: 4 },
    connections: 32,
    environment: { versions: { Node: '26.0.0' }, cpu: 'a <processor>', cores: 2, kernel: 'Linux' },
    observed: 'metrics on',
    cases: [
      {
        ...{ name: 'me', title: '`/me` & more', notes: [], findings },
        measured: [candidate('Sallyport', 80_000), candidate('oauth2-proxy', 16_000)],
      },
    ],
    leftOut: ['redis: it is not installed'],
  });

  it('stays in page and table when it is not what is wanted', () => {
    const failing = report([judge('rate of it', 'x', summary(4.9), 'at least', 5)]);
    expect(renderTable(failing)).toMatch(/rate of it +4\.90 x .* at least 5\.00 x +NOT MET/);
    expect(renderPage(failing)).toContain('| 4.90 x | 3.90 to 5.90 | at least 5.00 x | NOT MET |');
    const met = report([judge('rate of it', 'x', summary(5), 'at least', 5)]);
    expect(renderPage(met)).toContain('| at least 5.00 x | met |');
    expect(renderPage(met)).not.toContain('NOT MET');
  });

  it.each([
    ['at least', 5, [5, 6], [4.999]],
    ['at most', 130, [130, 1], [130.001]],
    ['below', 1, [0.99], [1, 2]],
  ] as const)('is judged by its middle: %s %f', (relation, wanted, met, notMet) => {
    const verdict = (median: number) =>
      judge('it', 'x', summary(median), relation, wanted).wanted?.isMet;
    expect(met.map(verdict)).toEqual(met.map(() => true));
    expect(notMet.map(verdict)).toEqual(notMet.map(() => false));
    expect(verdict(Number.NaN)).toBe(false);
  });

  it('names versions, command, what is left out, and how Sallyport was set up', () => {
    for (const part of ['26.0.0', 'npm run bench', 'redis: it is not installed', 'metrics on'])
      expect(renderPage(report([]))).toContain(part);
    expect(renderPage(report([]))).not.toContain('A short run');
    expect(renderPage({ ...report([]), rounds: 4 })).toContain('A short run');
  });

  it('is drawn as one bar a candidate, in dark and in light', () => {
    const chart = renderChart(report([]));
    expect(chart.match(/<rect class="(?:own|other)"/g)).toHaveLength(2);
    expect(chart).toContain('@media (prefers-color-scheme: dark)');
    expect(chart).toContain('/me &amp; more');
  });
});
