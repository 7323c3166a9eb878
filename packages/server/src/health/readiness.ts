/**
 * Whether the service is ready for requests, and what it waits for otherwise.
 *
 * @module
 */

/** What keeps the service from being ready. Stable: on the wire in the answer of `/readyz`. */
export type WaitedFor =
  /** Its metadata has not been read yet: sign-in is not possible. */
  | 'identity_provider'
  /** Keys of the issuer of bearer tokens have not been read yet: they cannot be verified. */
  | 'issuer_keys'
  /** Its first answer. */
  | 'session_store'
  /** The key ring file has not been read yet: session cookies cannot be verified. */
  | 'key_ring'
  /** Nothing: the process was asked to end, and new connections had better go elsewhere. */
  | 'draining';

/** Lists what is missing; empty when the service is ready. Never rejects. */
export type WaitingFor = () => Promise<readonly WaitedFor[]>;

/** Some parts, watched by {@link Readiness.watch}. */
export interface WatchedReadiness {
  readonly waitingFor: WaitingFor;
  /**
   * Whether the process would be ready with these parts, by what is known: waits for nothing. A store that
   * has not answered yet is asked meanwhile, for the next look.
   */
  readonly isReady: () => boolean;
}

/** What {@link Readiness.watch} asks. */
export interface WatchedParts {
  readonly isIdpKnown: () => boolean;
  readonly areIssuerKeysKnown: () => boolean;
  /** Looks at it, at most once a second. */
  readonly isKeyRingKnown: () => boolean;
  /** Asks the store anything. Rejects when it is away, which it logs itself. */
  readonly askStore: () => Promise<unknown>;
}

/**
 * The readiness of the process. It outlives a reload: its watchers then get the readiness of the parts that
 * serve at the time.
 */
export class Readiness {
  readonly #stopping = new AbortController();
  #parts: WaitingFor = async () => [];
  #isDraining = false;
  #hasStoreAnswered = false;
  #isStoreAsked = false;

  /** Aborts when the listener begins to close: ends calls that would go on for ever. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /**
   * Says of some parts whether the IdP, the keys of bearer tokens and the key ring are known, and whether the store has answered at
   * least once, these parts or others of the process: when it is away later sessions are undecided, which is no reason to turn
   * away everything else. Does not follow them yet. Asks the store at once, so that one that cannot be used
   * is reported when the process starts.
   */
  watch({
    isIdpKnown,
    areIssuerKeysKnown,
    isKeyRingKnown,
    askStore,
  }: WatchedParts): WatchedReadiness {
    this.#askMeanwhile(askStore);
    return {
      waitingFor: async () => {
        if (!this.#hasStoreAnswered) await this.#ask(askStore);
        return [
          ...(isIdpKnown() ? [] : (['identity_provider'] as const)),
          ...(areIssuerKeysKnown() ? [] : (['issuer_keys'] as const)),
          ...(this.#hasStoreAnswered ? [] : (['session_store'] as const)),
          ...(isKeyRingKnown() ? [] : (['key_ring'] as const)),
        ];
      },
      isReady: () => {
        this.#askMeanwhile(askStore);
        return (
          !this.#isDraining &&
          this.#hasStoreAnswered &&
          isIdpKnown() &&
          areIssuerKeysKnown() &&
          isKeyRingKnown()
        );
      },
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

  async #ask(askStore: WatchedParts['askStore']): Promise<void> {
    try {
      await askStore();
      this.#hasStoreAnswered = true;
    } catch {
      // The answer is that it is missing.
    }
  }

  /** Asks unless it has answered, or a question is under way. */
  #askMeanwhile(askStore: WatchedParts['askStore']): void {
    if (this.#hasStoreAnswered || this.#isStoreAsked) return;
    this.#isStoreAsked = true;
    void this.#ask(askStore).finally(() => {
      this.#isStoreAsked = false;
    });
  }
}
