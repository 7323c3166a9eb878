/**
 * What strangers who send without end do to others: `node bench/flood.ts gateway|serve [CONNECTIONS] [unread]`
 * for pipelined requests, whose answers are read or not, `node bench/flood.ts shut` for HTTP/2 streams behind a shut window.
 *
 * Prints one line of JSON. Each run ends within two minutes.
 *
 * @module
 */

import { createServer, get } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Browser } from '../conformance/wire/browser.ts';
import { temporaryFolder } from '../conformance/wire/process.ts';
import { Ends } from './process/ends.ts';
import { SERVER_CORE, startPinned, waitForLine } from './process/pinned.ts';
import { usageOf } from './process/usage.ts';
import { startIdentityProvider } from './servers/identity-provider.ts';
import { COMMAND, startSallyport } from './servers/sallyport.ts';

/** What is flooded, and how a request of others is admitted. */
interface Target {
  readonly port: number;
  readonly path: string;
  readonly cookie: string;
  readonly pids: () => readonly number[];
}

const FLOOD_BYTES = 6_000_000;
const FLOOD_MS = 20_000;
const AFTER_MS = 10_000;
const PROBE_MS = 200;
/** A probe that takes longer has failed. */
const PATIENCE_MS = 5_000;
const SHUT_CONNECTIONS = 20;
const SHUT_STREAMS = 200;
/** Longer than any time-out of the gateway for a client at rest. */
const SHUT_MS = 80_000;
const MEGABYTE = 1_000_000;

const [kind = 'gateway', connections = '1', unread] = process.argv.slice(2);
const ends = new Ends();
try {
  const target = await (kind === 'serve' ? startServe() : startGateway());
  const report = await (kind === 'shut' ? shut(target) : pipeline(target, Number(connections)));
  process.stdout.write(`${JSON.stringify({ kind, ...report })}\n`);
} finally {
  await ends.run();
}
process.exit(0);

async function startServe(): Promise<Target> {
  const sallyport = await startSallyport(ends, { idp: await startIdentityProvider(ends) });
  const cookie = await sallyport.signIn();
  return {
    port: Number(new URL(sallyport.origin).port),
    path: '/me',
    cookie,
    pids: sallyport.pids,
  };
}

async function startGateway(): Promise<Target> {
  const backend = createServer((_request, response) => response.end('{}'));
  await new Promise<void>((resolve) => {
    backend.listen(0, '127.0.0.1', resolve);
  });
  const state = temporaryFolder();
  ends.add(() => state.remove());
  const origin = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`;
  const command = [process.execPath, COMMAND, 'up', '--port', '0', '--state', state.path];
  const running = startPinned(
    ends,
    SERVER_CORE,
    [...command, '--upstream', origin, '--sign-in-as', 'ada'],
    {},
  );
  const url = new URL(await waitForLine(running, /ready (http:\S+)/));
  const browser = new Browser();
  await browser.visit(`${url.origin}/console`);
  const cookie = `core_session=${browser.cookie(url.hostname, 'core_session')}`;
  return { port: Number(url.port), path: '/console', cookie, pids: () => [running.pid] };
}

/** Sends some megabytes of requests on each connection, and measures another client meanwhile. */
async function pipeline(target: Target, count: number) {
  const request = requestOf(target);
  const flood = Buffer.from(request.repeat(Math.ceil(FLOOD_BYTES / request.length)));
  const watch = watchOthers(target);
  await sleep(1_000);
  const before = watch.now();
  const sockets = Array.from({ length: count }, () => dial(target.port));
  for (const socket of sockets) {
    if (unread === undefined) socket.resume();
    socket.write(flood);
  }
  await sleep(FLOOD_MS);
  for (const socket of sockets) socket.destroy();
  await sleep(AFTER_MS);
  const { most, now, slowest, failed, probes } = watch.stop();
  return {
    connections: count,
    answers: unread ?? 'read',
    requestsEach: Math.ceil(FLOOD_BYTES / request.length),
    rssBefore: megabytes(before),
    rssMost: megabytes(most),
    grewBy: megabytes(most - before),
    rssTenSecondsAfter: megabytes(now),
    slowestProbeMs: Math.round(slowest),
    failedProbes: `${failed} of ${probes}`,
  };
}

/** Opens streams whose answers it never lets in. */
async function shut({ port, path, cookie }: Target) {
  const startedAt = performance.now();
  let open = 0;
  let lastEndMs = 0;
  for (let n = 0; n < SHUT_CONNECTIONS; n += 1) {
    const session = connectHttp2(`http://localhost:${port}`, {
      settings: { initialWindowSize: 0 },
    });
    session.on('error', () => {});
    for (let each = 0; each < SHUT_STREAMS; each += 1) {
      const stream = session.request({ ':path': path, cookie });
      open += 1;
      stream.on('error', () => {}).resume();
      stream.once('close', () => {
        open -= 1;
        lastEndMs = performance.now() - startedAt;
      });
    }
  }
  while (open > 0 && performance.now() - startedAt < SHUT_MS) await sleep(100);
  return {
    streams: SHUT_CONNECTIONS * SHUT_STREAMS,
    leftOpen: open,
    lastEndedAfterMs: Math.round(lastEndMs),
  };
}

function requestOf({ path, cookie }: Target): string {
  return `GET ${path} HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie}\r\n\r\n`;
}

function dial(port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  return socket;
}

/** Asks now and then, each time on a connection of its own, and looks at the memory. */
function watchOthers({ port, path, cookie, pids }: Target) {
  const seen = { most: 0, slowest: 0, failed: 0, probes: 0 };
  const now = (): number => usageOf(pids()).rssBytes;
  const probe = (): void => {
    const startedAt = performance.now();
    seen.probes += 1;
    const asked = get(
      { port, path, host: 'localhost', agent: false, headers: { cookie }, timeout: PATIENCE_MS },
      (response) => {
        response.resume();
        if (response.statusCode !== 200) seen.failed += 1;
        response.once('end', () => {
          seen.slowest = Math.max(seen.slowest, performance.now() - startedAt);
        });
      },
    );
    asked.once('timeout', () => asked.destroy(new Error('too late')));
    asked.once('error', () => {
      seen.failed += 1;
      seen.slowest = Math.max(seen.slowest, performance.now() - startedAt);
    });
  };
  const timers = [
    setInterval(probe, PROBE_MS),
    setInterval(() => {
      seen.most = Math.max(seen.most, now());
    }, 100),
  ];
  return {
    now,
    stop() {
      for (const timer of timers) clearInterval(timer);
      return { ...seen, now: now() };
    },
  };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / MEGABYTE);
}
