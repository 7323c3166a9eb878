/**
 * Carries a changed configuration out while the service runs, or tells why it does not.
 *
 * @module
 */

import {
  type Config,
  type ConfigProblem,
  formatConfigProblem,
  type LoadedConfig,
  listChanges,
} from '@sallyport/config';
import { type Result, refuse, SallyportError } from '@sallyport/protocol';
import { createLatestJob } from './latest-job.ts';

/** What made somebody look at the configuration again. */
export type ReloadReason = 'signal' | 'file_changed';

/** Why a configuration did not take effect. No arm holds a value but in the words of a problem. */
export type ReloadRefusal =
  | { readonly kind: 'problems'; readonly problems: readonly ConfigProblem[] }
  | { readonly kind: 'failed'; readonly sentence: string }
  /** A newer one came before it took effect. */
  | { readonly kind: 'superseded' };

/** What became of a reload. */
export type ReloadOutcome =
  | {
      readonly event: 'configuration_loaded';
      readonly reason: ReloadReason;
      readonly changed: string;
    }
  | {
      readonly event: 'configuration_refused';
      readonly reason: ReloadReason;
      readonly changed: string;
      readonly problem: string;
    }
  | { readonly event: 'configuration_superseded'; readonly reason: ReloadReason };

/** A configuration that was read; `Next` may hold more, for whoever puts it into effect. */
interface Loaded {
  readonly loaded: LoadedConfig;
}

/** What {@link createReloads} needs. */
export interface ReloadsOptions<Next extends Loaded> {
  /** The one that is in effect. */
  readonly config: Config;
  /** Reads and checks the whole configuration. Never throws. */
  readonly read: () => Result<Next, readonly ConfigProblem[]>;
  /** Puts it into effect while requests are answered; the one before stays until then. */
  readonly apply: (next: Next, signal: AbortSignal) => Promise<Result<undefined, ReloadRefusal>>;
  readonly tell: (outcome: ReloadOutcome) => void;
}

/** Reloads of one process. */
export interface Reloads {
  /** Reads the configuration and puts it into effect, after what is under way has been called off. */
  reload(reason: ReloadReason): void;
  /** Does something else with the configuration in effect, one after the other with reloads. */
  run(work: (signal: AbortSignal) => Promise<void>): void;
  /** Calls off what is under way, and takes nothing further. */
  close(): Promise<void>;
}

/**
 * Creates them. A configuration that cannot be used is told at once and disturbs nothing, not even a
 * reload under way. A changed file in which every value is the same is not told: a mounted ConfigMap is
 * exchanged as a whole, for other files' sake too.
 */
export function createReloads<Next extends Loaded>(options: ReloadsOptions<Next>): Reloads {
  const { read, apply, tell } = options;
  const jobs = createLatestJob();
  let current = options.config;
  /** The newest that was good, whether or not it is in effect yet. */
  let wanted = options.config;

  return {
    reload(reason) {
      const next = read();
      if (!next.ok) {
        const problem = next.error.map(formatConfigProblem).join('; ');
        tell({ event: 'configuration_refused', reason, changed: '', problem });
        return;
      }
      const { config } = next.value.loaded;
      const { changed, needRestart } = listChanges(current, config);
      if (needRestart.length > 0) {
        const problem = `${needRestart.join(', ')}: takes effect only when the service is started again`;
        tell({ event: 'configuration_refused', reason, changed: changed.join(' '), problem });
        return;
      }
      if (reason === 'file_changed' && listChanges(wanted, config).changed.length === 0) return;
      wanted = config;
      jobs.run(async (signal) => {
        const outcome = await carryOut(next.value, signal);
        // Also of what was in effect for a moment only.
        const { changed } = listChanges(current, config);
        if (outcome.ok) {
          current = config;
          tell({ event: 'configuration_loaded', reason, changed: changed.join(' ') });
        } else if (outcome.error.kind === 'superseded') {
          tell({ event: 'configuration_superseded', reason });
        } else {
          wanted = current;
          const problem = describeRefusal(outcome.error);
          tell({ event: 'configuration_refused', reason, changed: changed.join(' '), problem });
        }
      });
    },
    run: (work) => jobs.run(work),
    close: () => jobs.close(),
  };

  async function carryOut(
    next: Next,
    signal: AbortSignal,
  ): Promise<Result<undefined, ReloadRefusal>> {
    try {
      return await apply(next, signal);
    } catch (cause) {
      const sentence = cause instanceof SallyportError ? cause.message : 'it could not be used';
      return refuse({ kind: 'failed', sentence });
    }
  }
}

function describeRefusal(refusal: Exclude<ReloadRefusal, { kind: 'superseded' }>): string {
  return refusal.kind === 'failed'
    ? refusal.sentence
    : refusal.problems.map(formatConfigProblem).join('; ');
}
