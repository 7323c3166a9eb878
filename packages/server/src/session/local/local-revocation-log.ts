/**
 * Reading the revocation log of the local store: what other processes ended.
 *
 * @module
 */

import type { RevocationsSeen } from '../session-store.ts';
import type { Connection } from './local-store-statements.ts';

/** What {@link LocalRevocationLog} needs. */
export interface LocalRevocationLogOptions {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Works with the open file. @throws When it is away. */
  readonly use: (work: (connection: Connection) => void) => void;
}

const POLL_MS = 250;
const REVOCATIONS_PER_LOOK = 1_000;
const NOTHING_ENDED: RevocationsSeen = { sessions: [], all: false };

/** Looks at the log when the file has changed, at most every 250 ms. */
export class LocalRevocationLog {
  readonly #options: LocalRevocationLogOptions;
  #polledAt = Number.NEGATIVE_INFINITY;
  #seenDataVersion: unknown;
  #seenSequence = 0;
  /** Ended here or elsewhere, and not yet reported to the caller. Ends in this process do not wait for the log. */
  #ended: number[] = [];
  #mustForget = false;

  constructor(options: LocalRevocationLogOptions) {
    this.#options = options;
  }

  /** Goes on from where the log of a newly opened file ends; nothing remembered counts any more. */
  begin(connection: Connection): void {
    this.#mustForget = true;
    this.#seenDataVersion = undefined;
    this.#seenSequence = Number(connection.lastSequence.get()?.['sequence']);
  }

  /** The file is away: the next {@link take} looks at once, and says so if it still is. */
  lookAtOnce(): void {
    this.#polledAt = Number.NEGATIVE_INFINITY;
  }

  /** Sessions that this process has ended. */
  note(ids: readonly number[]): void {
    this.#ended.push(...ids);
  }

  /**
   * What ended since the last call.
   *
   * @throws When it is time to look, and the file is away.
   */
  take(): RevocationsSeen {
    const time = this.#options.now();
    // A clock that was set back must not stop the looking.
    if (time - this.#polledAt >= POLL_MS || time < this.#polledAt) this.#look(time);
    if (this.#ended.length === 0 && !this.#mustForget) return NOTHING_ENDED;
    const seen = { sessions: this.#ended, all: this.#mustForget };
    this.#ended = [];
    this.#mustForget = false;
    return seen;
  }

  #look(time: number): void {
    this.#options.use((at) => {
      const version = at.dataVersion.get()?.['data_version'];
      if (version !== this.#seenDataVersion) {
        const rows = at.logAfter.all(this.#seenSequence, REVOCATIONS_PER_LOOK);
        for (const row of rows) {
          this.#ended.push(Number(row['session_id']));
          this.#seenSequence = Number(row['sequence']);
        }
        // A full page has more behind it: look again at the next call.
        if (rows.length === REVOCATIONS_PER_LOOK) return;
        this.#seenDataVersion = version;
      }
      this.#polledAt = time;
    });
  }
}
