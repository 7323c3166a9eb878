/**
 * Which goes first when connections and requests come together.
 *
 * @module
 */

/** Connections that are accepted one after the other before requests have their turn: some ten milliseconds. */
export const ARRIVALS_MAX = 128;

/** The connections that a port is about to accept. */
export interface Arrivals {
  /** Says that a connection has just been accepted; another one may wait behind it. */
  arrived(this: void): void;
  /** Runs the work at once, or, while connections arrive, after them. In order. */
  afterThem(this: void, work: () => void): void;
}

/**
 * Lets connections be accepted before the requests of others are handled.
 *
 * libuv accepts one connection in each turn of the event loop, and a turn handles every request that has
 * been read. With a few hundred busy clients a turn takes milliseconds, and the last of a thousand new
 * connections would wait for seconds. So requests wait while connections arrive, in turns that only
 * accept and read, and for {@link ARRIVALS_MAX} connections at most: a stranger who keeps connecting
 * delays a request by no more than that.
 *
 * When nothing arrives, this costs one comparison for each request.
 *
 * @see [libuv #3696](https://github.com/libuv/libuv/pull/3696)
 */
export function createArrivals(): Arrivals {
  const waiting: (() => void)[] = [];
  let isAccepting = false;
  let hasArrived = false;
  let accepted = 0;

  return {
    arrived() {
      hasArrived = true;
      accepted += 1;
      if (isAccepting) return;
      isAccepting = true;
      setImmediate(endTurn);
    },
    afterThem(work) {
      if (isAccepting) waiting.push(work);
      else work();
    },
  };

  function endTurn(): void {
    if (hasArrived && accepted < ARRIVALS_MAX) {
      hasArrived = false;
      setImmediate(endTurn);
      return;
    }
    isAccepting = false;
    hasArrived = false;
    accepted = 0;
    for (const work of waiting.splice(0)) work();
  }
}
