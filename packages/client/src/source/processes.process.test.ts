import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type {
  RefreshingReport,
  RefreshingTask,
} from '@sallyport/testing/client/refreshing-process';
import { createTokens, HOUR, KEY } from '@sallyport/testing/client/tokens';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFileTokenStore } from '../store/file-token-store.ts';

/** A token endpoint that rotates, and ends the sign-in when a refresh token is used twice. */
async function startTokenEndpoint(first: string) {
  let valid: string | undefined = first;
  const seen = { refreshes: 0, reuses: 0 };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = new URLSearchParams(Buffer.concat(chunks).toString());
      response.setHeader('content-type', 'application/json');
      if (body.get('refresh_token') !== valid) {
        seen.reuses += 1;
        valid = undefined;
        response.writeHead(400).end('{"error":"invalid_grant"}');
        return;
      }
      seen.refreshes += 1;
      valid = `canary-refresh-${seen.refreshes}`;
      const accessToken = `canary-access-${seen.refreshes}`;
      response.end(JSON.stringify({ access_token: accessToken, refresh_token: valid }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/token`, seen };
}

/** A process that refreshes, and all it printed. */
class Refreshing {
  readonly child: ChildProcess;
  readonly #reports: AsyncIterator<[RefreshingReport]>;
  printed = '';

  constructor() {
    const program = new URL('../../../testing/src/client/refreshing-process.ts', import.meta.url);
    this.child = fork(program, { execArgv: ['--conditions=source'], silent: true });
    this.#reports = on(this.child, 'message', { close: ['exit'] }) as AsyncIterator<
      [RefreshingReport]
    >;
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on('data', (text) => {
        this.printed += String(text);
      });
    onTestFinished(() => void this.child.kill('SIGKILL'));
  }

  /** Its next report; `undefined` when it has ended. */
  async next(): Promise<RefreshingReport | undefined> {
    const { value, done } = await this.#reports.next();
    return done === true ? undefined : value[0];
  }

  /** Its last report. */
  async result(): Promise<RefreshingReport> {
    for (;;) {
      const report = await this.next();
      if (report === undefined) throw new Error(`ended without a result: ${this.printed}`);
      if ('accessToken' in report || 'failure' in report) return report;
    }
  }

  /** Waits until it stands at a place. */
  async reached(place: string): Promise<void> {
    for (;;) {
      const report = await this.next();
      if (report === undefined) throw new Error(`ended too early: ${this.printed}`);
      if ('reached' in report && report.reached === place) return;
    }
  }

  async kill(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  commandLine(): string {
    try {
      return readFileSync(`/proc/${this.child.pid}/cmdline`, 'utf8');
    } catch {
      return this.child.spawnargs.join(' ');
    }
  }
}

/** An expired sign-in, and processes that are ready to use it. */
async function setUp(count: number) {
  const folder = join(createTemporaryFolder(), 'tokens');
  const store = createFileTokenStore(folder);
  await store.write(KEY, createTokens('0', { refreshToken: 'canary-refresh-0' }));
  const endpoint = await startTokenEndpoint('canary-refresh-0');
  const processes = Array.from({ length: count }, () => new Refreshing());
  for (const one of processes) expect(await one.next()).toEqual({ ready: true });
  return {
    folder,
    store,
    endpoint,
    processes,
    start(one: Refreshing | undefined, pausesAt?: RefreshingTask['pausesAt']): void {
      one?.child.send({ folder, tokenEndpoint: endpoint.url, pausesAt, now: NOON + HOUR });
    },
  };
}

describe('Real processes with one expired token', { timeout: 120_000 }, () => {
  it('twenty at once cause one refresh, and each gets a token that is valid', async () => {
    const { endpoint, folder, processes, start } = await setUp(20);
    for (const one of processes) start(one);
    const results = await Promise.all(processes.map((one) => one.result()));
    expect(endpoint.seen).toEqual({ refreshes: 1, reuses: 0 });
    expect(results).toEqual(processes.map(() => ({ accessToken: 'canary-access-1' })));
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('no token is printed, nor in a command line', async () => {
    const { processes, start } = await setUp(2);
    const commandLines = processes.map((one) => one.commandLine()).join();
    for (const one of processes) start(one);
    const closed = processes.map((one) => once(one.child, 'close'));
    await Promise.all(processes.map((one) => one.result()));
    await Promise.all(closed);
    expect(commandLines).toContain('refreshing-process');
    expect(commandLines + processes.map((one) => one.printed).join()).not.toContain('canary');
  });

  it('one of eight takes over from a holder that is killed before its exchange', async () => {
    const { endpoint, processes, start } = await setUp(9);
    const [holder, ...others] = processes;
    start(holder, 'held');
    await holder?.reached('held');
    for (const one of others) start(one);
    await holder?.kill();
    const results = await Promise.all(others.map((one) => one.result()));
    expect(results).toEqual(others.map(() => ({ accessToken: 'canary-access-1' })));
    expect(endpoint.seen).toEqual({ refreshes: 1, reuses: 0 });
  });

  it('the next takes over from a holder that is killed after its exchange: the sign-in is lost, and said to be', async () => {
    const { endpoint, processes, store, start } = await setUp(2);
    const [holder, next] = processes;
    start(holder, 'exchanged');
    await holder?.reached('exchanged');
    start(next);
    await holder?.kill();
    expect(await next?.result()).toEqual({ failure: 'login_required' });
    expect(endpoint.seen).toEqual({ refreshes: 1, reuses: 1 });
    expect(await store.read(KEY)).toBeUndefined();
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    '%s frees the lock, and still ends the process as it does by default',
    async (signal) => {
      const { folder, processes, start } = await setUp(1);
      const [holder] = processes;
      start(holder, 'held');
      await holder?.reached('held');
      expect(readdirSync(folder).some((name) => name.endsWith('.lock'))).toBe(true);
      const ended = once(holder?.child as ChildProcess, 'exit');
      holder?.child.kill(signal);
      expect(await ended).toEqual([null, signal]);
      expect(readdirSync(folder).filter((name) => !name.endsWith('.json'))).toEqual([]);
    },
  );
});
