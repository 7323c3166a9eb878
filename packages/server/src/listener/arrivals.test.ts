import { dial, drainSocket } from '@sallyport/testing/wire/wire-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ARRIVALS_MAX, createArrivals } from './arrivals.ts';
import { createOnePort } from './one-port.ts';

const REQUEST = 'GET / HTTP/1.1\r\n\r\n';

/** Connects all at once; returns how many were accepted when the first request had its turn. */
async function acceptedBeforeFirst(clients: number): Promise<number> {
  const served = Promise.withResolvers<number>();
  const port = createOnePort({
    firstBytesMs: 60_000,
    accept(socket) {
      socket.once('data', () => {
        port.afterArrivals(() => served.resolve([...port.connections()].length));
      });
    },
  });
  onTestFinished(() => {
    port.stopListening();
    port.destroyAll();
  });
  const number = await port.listen(0, '127.0.0.1');
  for (let client = 0; client < clients; client += 1) {
    const socket = dial(number);
    void drainSocket(socket);
    socket.write(REQUEST);
  }
  return served.promise;
}

/** One turn of the event loop. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('Requests and connections that come together', () => {
  it('let every connection be accepted before the first request is handled', async () => {
    expect(await acceptedBeforeFirst(ARRIVALS_MAX / 2)).toBe(ARRIVALS_MAX / 2);
  });

  it('let no more than the limit go before a request', async () => {
    const accepted = await acceptedBeforeFirst(ARRIVALS_MAX * 2);
    expect(accepted).toBeGreaterThanOrEqual(ARRIVALS_MAX);
    expect(accepted).toBeLessThan(ARRIVALS_MAX + 8);
  });
});

describe('Work of a request', () => {
  it('runs at once while no connection arrives', () => {
    const done: number[] = [];
    createArrivals().afterThem(() => done.push(1));
    expect(done).toEqual([1]);
  });

  it('runs in the order of its coming, in the turn after the last connection', async () => {
    const arrivals = createArrivals();
    const done: number[] = [];
    arrivals.arrived();
    arrivals.afterThem(() => done.push(1));
    arrivals.afterThem(() => done.push(2));
    expect(done).toEqual([]);
    await turn();
    arrivals.arrived();
    await turn();
    expect(done).toEqual([]);
    await turn();
    await turn();
    expect(done).toEqual([1, 2]);
  });

  it('runs although connections never cease to arrive, and again at once when they do', async () => {
    const arrivals = createArrivals();
    let turns = 0;
    let isDone = false;
    arrivals.arrived();
    arrivals.afterThem(() => {
      isDone = true;
    });
    for (; !isDone; turns += 1) {
      arrivals.arrived();
      await turn();
    }
    expect(turns).toBeLessThanOrEqual(ARRIVALS_MAX);
    await turn();
    await turn();
    let isDoneAtOnce = false;
    arrivals.afterThem(() => {
      isDoneAtOnce = true;
    });
    expect(isDoneAtOnce).toBe(true);
  });
});
