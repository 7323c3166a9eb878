/**
 * Whether the service is ready for requests, and what it waits for otherwise.
 *
 * @module
 */

/** What keeps the service from being ready. Stable: on the wire in the answer of `/readyz`. */
export type WaitedFor =
  /** Its metadata: without it nobody can sign in. */
  | 'identity_provider'
  /** Its first answer. */
  | 'session_store'
  /** Nothing: the process was asked to end, and new connections had better go elsewhere. */
  | 'draining';

/** Tells what is missing; empty when the service is ready. Never rejects. */
export type WaitingFor = () => Promise<readonly WaitedFor[]>;

/** What {@link Readiness.watch} asks. */
export interface WatchedParts {
  readonly isIdpKnown: () => boolean;
  /** Asks the store anything. Rejects when it is away, which it tells the log itself. */
  readonly askStore: () => Promise<unknown>;
}

/**
 * The readiness of the process. It outlives a reload: whoever watches it goes on to hear of the parts that
 * serve at the time.
 */
export class Readiness {
  readonly #stopping = new AbortController();
  #parts: WaitingFor = async () => [];
  #isDraining = false;
  #hasStoreAnswered = false;

  /** Aborts when the listener begins to close: ends calls that would go on for ever. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /**
   * Tells of some parts whether the IdP is known, and whether the store has answered at least once, these
   * parts or others of the process: when it is away later sessions are undecided, which is no reason to turn
   * away everything else. Does not follow them yet.
   */
  watch({ isIdpKnown, askStore }: WatchedParts): WaitingFor {
    return async () => {
      this.#hasStoreAnswered ||= await hasAnswered(askStore);
      return [
        ...(isIdpKnown() ? [] : (['identity_provider'] as const)),
        ...(this.#hasStoreAnswered ? [] : (['session_store'] as const)),
      ];
    };
  }

  /** From now on these parts are asked. */
  follow(parts: WaitingFor): void {
    this.#parts = parts;
  }

  /** What is missing now. An arrow, to be handed on. */
  readonly waitingFor: WaitingFor = async () => [
    ...(this.#isDraining ? (['draining'] as const) : []),
    ...(await this.#parts()),
  ];

  /** Not ready any more, whatever the parts say. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Ends what listens to {@link stopping}. */
  stop(): void {
    this.#stopping.abort();
  }
}

async function hasAnswered(askStore: WatchedParts['askStore']): Promise<boolean> {
  try {
    await askStore();
    return true;
  } catch {
    // The answer is that it is missing.
    return false;
  }
}
