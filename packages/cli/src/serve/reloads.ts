/**
 * Puts a changed configuration into effect while the service runs, or reports why it does not.
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

/** Why the configuration is read again. */
export type ReloadReason = 'signal' | 'file_changed';

/** Why a configuration did not take effect. Holds keys and problem texts, and no other value of a setting. */
export type ReloadRefusal =
  | { readonly kind: 'problems'; readonly problems: readonly ConfigProblem[] }
  /** `isPartial` when a part of what serves has it nevertheless. */
  | { readonly kind: 'failed'; readonly sentence: string; readonly isPartial?: boolean }
  /** A newer one came before it took effect. */
  | { readonly kind: 'superseded'; readonly isPartial?: boolean };

/** What became of a reload. */
export type ReloadOutcome =
  | {
      readonly event: 'configuration_loaded';
      readonly reason: ReloadReason;
      readonly changed: readonly string[];
      readonly warnings: readonly ConfigProblem[];
    }
  | {
      readonly event: 'configuration_refused';
      readonly reason: ReloadReason;
      /** Absent when the configuration could not be read. */
      readonly changed?: readonly string[];
      readonly problem: string;
    }
  /** After a refusal: what is read holds the one in effect again. */
  | { readonly event: 'configuration_good_again'; readonly reason: ReloadReason }
  | { readonly event: 'configuration_superseded'; readonly reason: ReloadReason }
  /** After a refusal: the part that had the refused one has the one before again. */
  | { readonly event: 'configuration_restored'; readonly reason: ReloadReason }
  /** After a refusal: it may still have it. */
  | {
      readonly event: 'configuration_mixed';
      readonly reason: ReloadReason;
      readonly problem: string;
    };

/** A configuration that was read; `Next` may hold more that `apply` needs. */
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
  /**
   * Puts the one in effect into effect again everywhere, after one that reached a part only. Absent where
   * it is all or nothing.
   */
  readonly restore?: (signal: AbortSignal) => Promise<Result<undefined, ReloadRefusal>>;
  /** Called with the outcome of every reload that is reported. */
  readonly report: (outcome: ReloadOutcome) => void;
}

/** Reloads of one process. */
export interface Reloads {
  /**
   * Reads the configuration and puts it into effect, after what is under way has been called off; or, where
   * that has the very same values, after it: repeated requests do not keep it from ending.
   */
  reload(reason: ReloadReason): void;
  /**
   * Starts everything anew with the configuration in effect, unless a reload is under way or waits, which
   * does that.
   *
   * @param work - Does it; a reload calls it off. Returns whether everything has that configuration now.
   *
   * @returns Whether it is left to `work`, and not to a reload.
   */
  restart(work: (signal: AbortSignal) => Promise<boolean>): boolean;
  /** Calls off what is under way, and takes nothing further. */
  close(): Promise<void>;
}

/**
 * Creates the reloads.
 *
 * - A configuration that cannot be used is reported at once and changes nothing, not even a reload under way.
 * - A changed file in which every value is the same is not reported: a mounted ConfigMap is replaced as a whole
 *   when another file in it changes. After a refusal it is reported that the file is good again.
 * - While a part of the workers may have a configuration that was refused, every reading is carried out.
 */
export function createReloads<Next extends Loaded>(options: ReloadsOptions<Next>): Reloads {
  const { read, apply, restore } = options;
  const jobs = createLatestJob();
  let current = options.config;
  /** The newest that was good, whether or not it is in effect yet. */
  let wanted = options.config;
  /** Whether a part of what serves may have another one than `current`. */
  let isMixed = false;
  /** Whether the last report was a refusal. */
  let isRefused = false;
  /** What is under way or waits. */
  const pending = new Set<Config>();

  return {
    reload(reason) {
      const next = read();
      if (!next.ok) {
        const problem = next.error.map(formatConfigProblem).join('; ');
        report({ event: 'configuration_refused', reason, problem });
        return;
      }
      const { config } = next.value.loaded;
      const { changed, needRestart } = listChanges(current, config);
      if (needRestart.length > 0) {
        const problem = `${needRestart.join(', ')}: takes effect only when the service is started again`;
        report({ event: 'configuration_refused', reason, changed, problem });
        return;
      }
      const isWanted = listChanges(wanted, config).changed.length === 0;
      const isSame = !isMixed && isWanted;
      if (reason === 'file_changed' && isSame) {
        // A reload that is under way reports its own end.
        if (isRefused && pending.size === 0) report({ event: 'configuration_good_again', reason });
        return;
      }
      const isUnderWay = isWanted && pending.has(wanted);
      wanted = config;
      pending.add(config);
      jobs.run(
        async (signal) => {
          await carryOut(next.value, reason, signal);
          pending.delete(config);
        },
        () => {
          pending.delete(config);
          report({ event: 'configuration_superseded', reason });
        },
        isUnderWay,
      );
    },
    restart(work) {
      if (pending.size > 0) return false;
      jobs.run(async (signal) => {
        if (await work(signal)) isMixed = false;
      });
      return true;
    },
    close: () => jobs.close(),
  };

  function report(outcome: ReloadOutcome): void {
    const { event } = outcome;
    if (event === 'configuration_refused') isRefused = true;
    if (event === 'configuration_loaded' || event === 'configuration_good_again') isRefused = false;
    options.report(outcome);
  }

  async function carryOut(next: Next, reason: ReloadReason, signal: AbortSignal): Promise<void> {
    const { config, warnings } = next.loaded;
    const outcome = await settle(() => apply(next, signal));
    // Also of what was in effect for a moment only.
    const { changed } = listChanges(current, config);
    if (outcome.ok) {
      current = config;
      isMixed = false;
      report({ event: 'configuration_loaded', reason, changed, warnings });
      return;
    }
    const { error } = outcome;
    if (restore !== undefined && error.kind !== 'problems' && error.isPartial === true)
      isMixed = true;
    // A newer one may be waiting, and is what is wanted then.
    if (wanted === config) wanted = current;
    if (error.kind === 'superseded') {
      report({ event: 'configuration_superseded', reason });
      return;
    }
    report({ event: 'configuration_refused', reason, changed, problem: describeRefusal(error) });
    // A newer one reaches everything.
    if (restore === undefined || !isMixed || signal.aborted) return;
    const restored = await settle(() => restore(signal));
    if (restored.ok) {
      isMixed = false;
      report({ event: 'configuration_restored', reason });
    } else if (restored.error.kind !== 'superseded') {
      const problem = describeRefusal(restored.error);
      report({ event: 'configuration_mixed', reason, problem });
    }
  }
}

/** An error that is thrown is a failure that may have reached a part. */
async function settle(
  work: () => Promise<Result<undefined, ReloadRefusal>>,
): Promise<Result<undefined, ReloadRefusal>> {
  try {
    return await work();
  } catch (cause) {
    const sentence = cause instanceof SallyportError ? cause.message : 'it could not be used';
    return refuse({ kind: 'failed', sentence, isPartial: true });
  }
}

function describeRefusal(refusal: Exclude<ReloadRefusal, { kind: 'superseded' }>): string {
  return refusal.kind === 'failed'
    ? refusal.sentence
    : refusal.problems.map(formatConfigProblem).join('; ');
}
