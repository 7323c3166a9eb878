/**
 * Runs several `sallyport serve` beside each other in one process, each as if it had been started: with
 * arguments, variables, streams and signals of its own. Loading the modules is most of what a start costs.
 *
 * Each runs in an asynchronous context of its own, and what it asks `process` for is answered by that context.
 *
 * @module
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import type { FromHost, ToHost } from './service-host.ts';
import { takeStdout } from './take-stdout.ts';

/** What one service takes for its process. */
interface Service {
  readonly argv: readonly string[];
  readonly env: Record<string, string>;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly signals: EventEmitter;
  /** Returns whether it had not ended before. */
  end(code: number): boolean;
}

/** Thrown where a service would end the process. */
class Ended extends Error {}

const MAIN = new URL('../../packages/cli/src/main.ts', import.meta.url).href;
const SIGNALS: ReadonlySet<unknown> = new Set(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2']);

const current = new AsyncLocalStorage<Service>();
const running = new Map<number, Service>();

for (const name of ['argv', 'env', 'stdout', 'stderr'] as const) {
  const original: unknown = process[name];
  const get = () => current.getStore()?.[name] ?? original;
  Object.defineProperty(process, name, { configurable: true, enumerable: true, get });
}
takeStdout((bytes) => process.stdout.write(bytes));
for (const name of ['on', 'once', 'off', 'removeAllListeners'] as const)
  process[name] = followService(name, process[name]) as never;
process.exit = ((code) => {
  const service = current.getStore();
  if (service === undefined) throw new Error('no service has asked for the end of the process');
  // The command does not wait long for its last lines to be read, and then ends once more.
  if (!service.end(Number(code ?? 0))) return;
  throw new Ended();
}) as typeof process.exit;
// The test holds the other end, also when it is killed.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.on('message', (message: ToHost) => {
  if ('args' in message) return void run(message);
  const service = running.get(message.id);
  if (service !== undefined)
    current.run(service, () => service.signals.emit(message.signal, message.signal));
});

async function run({ id, args, environment }: Extract<ToHost, { args: unknown }>): Promise<void> {
  const service: Service = {
    argv: [process.execPath, 'sallyport', ...args],
    env: { ...environment },
    stdout: collector((stdout) => send({ id, stdout })),
    stderr: collector((stderr) => send({ id, stderr })),
    signals: new EventEmitter(),
    end(code) {
      const isFirst = running.delete(id);
      if (isFirst) send({ id, code });
      return isFirst;
    },
  };
  running.set(id, service);
  try {
    // Another address each time: the entry is evaluated again, and what it imports is not.
    await current.run(service, () => import(`${MAIN}?service=${id}`));
    service.end(Number(process.exitCode ?? 0));
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
  } finally {
    process.exitCode = undefined;
  }
}

type Listening = 'on' | 'once' | 'off' | 'removeAllListeners';

/** The method, which for signals concerns the service that calls it. */
function followService(name: Listening, original: unknown) {
  const method = original as (...args: readonly unknown[]) => unknown;
  return (event: unknown, ...rest: readonly unknown[]): unknown => {
    const service = SIGNALS.has(event) ? current.getStore() : undefined;
    if (service === undefined) return method.call(process, event, ...rest);
    (service.signals[name] as typeof method).call(service.signals, event, ...rest);
    return process;
  };
}

function collector(take: (text: string) => void): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      take(chunk.toString());
      done();
    },
  });
}

function send(message: FromHost): void {
  process.send?.(message);
}
