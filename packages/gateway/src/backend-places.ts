/**
 * Who may use the connections to one backend, and who waits for one.
 *
 * @module
 */

/** How many there are. */
export interface BackendPlacesOptions {
  /** Requests that the backend has at once. */
  readonly placesMax: number;
  /** Requests that wait for one of them to end. */
  readonly waitingMax: number;
  /** Milliseconds a request waits. */
  readonly waitMs: number;
}

/** What one request does here. */
export interface Visit {
  /** Takes the place; called at once when there is one. */
  readonly start: () => void;
  /** There was none in time, or too many wait. Never called after `start`. */
  readonly refused: () => void;
}

/** The places of one backend. */
export interface BackendPlaces {
  /**
   * Asks for a place.
   *
   * @returns Gives it back, or leaves the line; further calls do nothing.
   */
  enter(visit: Visit): () => void;
}

/**
 * Creates the places, all free.
 *
 * A connection pool has a line of its own, which has no end, and in which a request stays although its
 * client has gone. Nothing waits there as long as no more requests are under way than it has connections.
 */
export function createBackendPlaces(options: BackendPlacesOptions): BackendPlaces {
  const { placesMax, waitingMax, waitMs } = options;
  let taken = 0;
  // A set keeps the order of arrival and removes any waiter in constant time.
  const waiting = new Set<() => void>();

  return {
    enter({ start, refused }) {
      if (taken < placesMax) {
        taken += 1;
        start();
        return once(giveBack);
      }
      if (waiting.size >= waitingMax) {
        refused();
        return ignore;
      }
      let leave = (): void => {
        clearTimeout(timer);
        waiting.delete(advance);
      };
      const timer = setTimeout(() => {
        leave();
        refused();
      }, waitMs);
      const advance = (): void => {
        clearTimeout(timer);
        leave = once(giveBack);
        start();
      };
      waiting.add(advance);
      return () => leave();
    },
  };

  function giveBack(): void {
    const [next] = waiting;
    if (next === undefined) {
      taken -= 1;
      return;
    }
    waiting.delete(next);
    next();
  }
}

function once(call: () => void): () => void {
  let isCalled = false;
  return () => {
    if (isCalled) return;
    isCalled = true;
    call();
  };
}

function ignore(): void {}
