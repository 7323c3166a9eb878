/**
 * A session store that counts, and can be taken down or held up.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type {
  RevocationsSeen,
  SessionStore,
  StoredMetadata,
  StoredSession,
} from '../../../server/src/session/session-store.ts';

/** What a store that is down says. */
export const DOWN: SallyportError = new SallyportError('SP_STORE_UNAVAILABLE', {
  component: 'store:test',
  retryAfterSeconds: 7,
});

/** Stands in front of another store. */
export class WatchedStore implements SessionStore {
  reads = 0;
  isDown = false;
  /** Has the next look at revocations say that everything must be forgotten. */
  hasMissedSome = false;
  /** A read that begins now waits for this after it has its answer. */
  held: Promise<void> | undefined;
  /** Called when a held read has its answer. */
  onHeld: () => void = () => {};
  readonly touches: (readonly [id: number, at: number])[] = [];
  readonly #store: SessionStore;

  constructor(store: SessionStore) {
    this.#store = store;
  }

  readonly create: SessionStore['create'] = (...call) => this.#up().create(...call);
  readonly replace: SessionStore['replace'] = (...call) => this.#up().replace(...call);
  readonly noteRenewalSent: SessionStore['noteRenewalSent'] = (...call) =>
    this.#up().noteRenewalSent(...call);
  readonly withdrawRenewalSent: SessionStore['withdrawRenewalSent'] = (...call) =>
    this.#up().withdrawRenewalSent(...call);
  readonly lease: SessionStore['lease'] = (...call) => this.#up().lease(...call);
  readonly release: SessionStore['release'] = (...call) => this.#up().release(...call);
  readonly revoke: SessionStore['revoke'] = (...call) => this.#up().revoke(...call);
  readonly revokeGeneration: SessionStore['revokeGeneration'] = (...call) =>
    this.#up().revokeGeneration(...call);
  readonly revokeAll: SessionStore['revokeAll'] = (...call) => this.#up().revokeAll(...call);
  readonly endReason: SessionStore['endReason'] = (...call) => this.#up().endReason(...call);
  readonly listByPrincipal: SessionStore['listByPrincipal'] = (...call) =>
    this.#up().listByPrincipal(...call);
  readonly list: SessionStore['list'] = (...call) => this.#up().list(...call);
  readonly takeTurn: SessionStore['takeTurn'] = (...call) => this.#up().takeTurn(...call);
  readonly claimOnce: SessionStore['claimOnce'] = (...call) => this.#up().claimOnce(...call);
  readonly sweep: SessionStore['sweep'] = (...call) => this.#up().sweep(...call);
  readonly close: SessionStore['close'] = () => this.#store.close();

  async read(id: number): Promise<StoredSession | undefined> {
    this.reads += 1;
    return this.#hold(this.#up().read(id));
  }

  async readMetadata(id: number): Promise<StoredMetadata | undefined> {
    this.reads += 1;
    return this.#hold(this.#up().readMetadata(id));
  }

  async #hold<T>(reading: Promise<T>): Promise<T> {
    const { held } = this;
    const stored = await reading;
    if (held !== undefined) this.onHeld();
    await held;
    return stored;
  }

  async touch(id: number, at: number): Promise<void> {
    this.touches.push([id, at]);
    await this.#up().touch(id, at);
  }

  revocations(): RevocationsSeen {
    const { sessions, all } = this.#up().revocations();
    const hasMissedSome = this.hasMissedSome;
    this.hasMissedSome = false;
    return { sessions, all: all || hasMissedSome };
  }

  #up(): SessionStore {
    if (this.isDown) throw DOWN;
    return this.#store;
  }
}
