/**
 * Which requests are traced: a share of those that begin a trace, and so many of those that continue one.
 *
 * @module
 */

/** Settings and ports of {@link createTraceSampling}. */
export interface TraceSamplingOptions {
  /** Share of the requests without a trace of their own, 0 to 1. */
  readonly share: number;
  /** How many requests a second may continue a trace that was begun elsewhere; 0 continues none. */
  readonly continuedPerSecond: number;
  /** Milliseconds from any start, never set back. */
  readonly monotonicMs: () => number;
  /** At least 0, below 1. */
  readonly random: () => number;
}

/** The decisions, each asked once a request. */
export interface TraceSampling {
  /** Whether a request that came without a trace begins one. */
  begins(): boolean;
  /**
   * Whether a request continues a trace that its caller records. Any client can claim that, so it is granted so
   * often a second and no oftener.
   */
  continues(): boolean;
}

/** Creates the decisions. Budgets are apart: who claims to be traced takes nothing from our own share. */
export function createTraceSampling(options: TraceSamplingOptions): TraceSampling {
  const { share, continuedPerSecond, monotonicMs, random } = options;
  let available = continuedPerSecond;
  let seenAt = monotonicMs();
  return {
    begins: () => random() < share,
    continues() {
      const now = monotonicMs();
      available = Math.min(
        continuedPerSecond,
        available + ((now - seenAt) / 1_000) * continuedPerSecond,
      );
      seenAt = now;
      if (available < 1) return false;
      available -= 1;
      return true;
    },
  };
}
