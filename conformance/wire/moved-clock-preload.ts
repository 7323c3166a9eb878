/**
 * Loaded into a process before its program: `Date` then tells the time of a test's clock.
 *
 * Timers and `performance.now()` stay real, and so do the clocks of other programs.
 *
 * @module
 */

import { connect } from 'node:net';

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

await follow(process.env['MOVED_CLOCK'] ?? '');

const MovedDate = new Proxy(RealDate, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
  apply: () => new RealDate(now()).toString(),
});
RealDate.now = now;
RealDate.prototype.constructor = MovedDate;
globalThis.Date = MovedDate;
