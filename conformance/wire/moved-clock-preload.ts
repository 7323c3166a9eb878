/**
 * Loaded into a process before its program: `Date` then gives the time of a test's clock.
 *
 * `performance.now()` stays real, and so do the clocks of other programs. With `MOVED_TIMERS` the process
 * wakes like a machine that was asleep: a timer whose time has come with the clock's move fires at once.
 *
 * @module
 */

import { AsyncResource } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import { connect } from 'node:net';
import promises from 'node:timers/promises';

const RealDate = Date;
const realNow = Date.now.bind(Date);
let offsetMs = 0;
const now = (): number => realNow() + offsetMs;

/**
 * Waits for the first offset, so that a process that is started late begins at the moved time; one that
 * finds no clock fails, and does not run on another time than the test believes.
 */
async function follow(path: string): Promise<void> {
  const { promise: first, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(path);
  let rest = '';
  socket.setEncoding('utf8');
  socket.once('connect', () => socket.write(`${process.pid}\n`));
  socket.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [turn = '', offset = ''] = line.split(' ');
      offsetMs = Number(offset);
      fireDue();
      socket.write(`${turn}\n`);
    }
    if (lines.length > 0) resolve();
  });
  // Once it was reached, a clock that is gone leaves the time as it is.
  socket.on('error', reject);
  socket.on('close', () => reject(new Error(`the moved clock at ${path} did not answer`)));
  await first;
  socket.unref();
}

const realSetTimeout = globalThis.setTimeout;
const realClearTimeout = globalThis.clearTimeout;
const waiting = new Set<MovedTimer>();

/** As much of a timer of the runtime as programs use. */
class MovedTimer {
  readonly #callback: () => void;
  readonly #ms: number;
  #real: NodeJS.Timeout;
  #dueAt: number;
  #hasRef = true;

  constructor(callback: () => void, ms: number) {
    // What fires early does so inside of another event, whose context is none of its own.
    this.#callback = AsyncResource.bind(callback);
    this.#ms = Math.max(1, ms || 1);
    this.#dueAt = now() + this.#ms;
    this.#real = this.#arm(this.#ms);
  }

  get dueAt(): number {
    return this.#dueAt;
  }

  fire(): void {
    this.close();
    this.#callback();
  }

  /** The real timer follows the clock's move. */
  rearm(): void {
    realClearTimeout(this.#real);
    this.#real = this.#arm(this.#dueAt - now());
  }

  refresh(): this {
    this.#dueAt = now() + this.#ms;
    this.rearm();
    return this;
  }

  ref(): this {
    this.#hasRef = true;
    this.#real.ref();
    return this;
  }

  unref(): this {
    this.#hasRef = false;
    this.#real.unref();
    return this;
  }

  hasRef(): boolean {
    return this.#hasRef;
  }

  close(): this {
    waiting.delete(this);
    realClearTimeout(this.#real);
    return this;
  }

  #arm(ms: number): NodeJS.Timeout {
    waiting.add(this);
    const real = realSetTimeout(() => this.fire(), ms);
    return this.#hasRef ? real : real.unref();
  }
}

function fireDue(): void {
  const due = [...waiting].filter(({ dueAt }) => dueAt <= now());
  for (const timer of due.toSorted((a, b) => a.dueAt - b.dueAt))
    if (waiting.has(timer)) timer.fire();
  for (const timer of waiting) timer.rearm();
}

/** `setTimeout` of `node:timers/promises`. */
function sleep<T>(
  ms: number,
  value: T,
  { signal, ref = true }: { readonly signal?: AbortSignal; readonly ref?: boolean } = {},
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = new MovedTimer(() => {
    signal?.removeEventListener('abort', abort);
    resolve(value);
  }, ms);
  const abort = (): void => {
    timer.close();
    const aborted = new Error('The operation was aborted', { cause: signal?.reason });
    reject(Object.assign(aborted, { name: 'AbortError', code: 'ABORT_ERR' }));
  };
  if (!ref) timer.unref();
  if (signal?.aborted === true) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return promise;
}

function moveTimers(): void {
  const set = (callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    new MovedTimer(() => callback(...args), ms);
  Object.defineProperties(set, Object.getOwnPropertyDescriptors(realSetTimeout));
  globalThis.setTimeout = set as unknown as typeof setTimeout;
  globalThis.clearTimeout = (timer: unknown) => {
    if (timer instanceof MovedTimer) timer.close();
    else realClearTimeout(timer as NodeJS.Timeout);
  };
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController();
    const reason = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
    new MovedTimer(() => controller.abort(reason), ms).unref();
    return controller.signal;
  };
  promises.setTimeout = sleep as typeof promises.setTimeout;
  syncBuiltinESMExports();
}

await follow(process.env['MOVED_CLOCK'] ?? '');

const MovedDate = new Proxy(RealDate, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
  apply: () => new RealDate(now()).toString(),
});
RealDate.now = now;
RealDate.prototype.constructor = MovedDate;
globalThis.Date = MovedDate;
if (process.env['MOVED_TIMERS'] !== undefined) moveTimers();
