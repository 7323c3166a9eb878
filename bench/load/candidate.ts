/**
 * What is put under load: an address, what is sent there, and whose processor time counts.
 *
 * @module
 */

import type { Load } from './wrk.ts';

/** How much is measured. */
export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  /** What the load opens at once. */
  readonly connections: number;
}

/** A request as it is sent, and the status that has to come back. */
export interface Sample {
  /** GET when absent. */
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
  /** Part of all requests that are like this one; all of them when absent. */
  readonly share?: number;
}

/** One side of a comparison. */
export interface Candidate {
  readonly name: string;
  /** Current at each use: a server that is started again has another port. */
  readonly url: string;
  /**
   * One of each kind; sent one by one around each load, to know status and size. None where another
   * load measures all of it.
   */
  readonly samples: readonly Sample[];
  /** A Lua script that makes the requests; without one the only sample is sent again and again. */
  readonly script?: string;
  /** Loads it in place of wrk. */
  readonly load?: (plan: Plan) => Promise<Load>;
  /** Roots of the process trees whose use is counted. */
  readonly pids: () => readonly number[];
  /** Brings it to where each load begins; not measured. */
  readonly prepare?: () => Promise<void>;
}
