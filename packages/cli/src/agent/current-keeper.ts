/**
 * The keeper in effect, and how another configuration takes its place.
 *
 * @module
 */

import { isDeepStrictEqual } from 'node:util';
import type { ClientSettings, LoadedClientSettings } from '@sallyport/client';
import { type ConfigProblem, formatConfigProblem } from '@sallyport/config';
import type { Result } from '@sallyport/protocol';
import type { Log } from '@sallyport/server/observe';
import { createLatestJob } from '../serve/latest-job.ts';
import type { ReloadOutcome, ReloadReason } from '../serve/reloads.ts';
import type { Failure } from '../terminal/report.ts';
import { createTokenKeeper, type HeldToken, type TokenKeeper } from './token-keeper.ts';

/** What {@link createCurrentKeeper} needs. */
export interface CurrentKeeperOptions {
  readonly settings: ClientSettings;
  readonly fetch: typeof fetch;
  readonly read: () => Result<LoadedClientSettings, readonly ConfigProblem[]>;
  /** Prepares trust and proxies for other settings. */
  readonly createFetch: (settings: ClientSettings) => Promise<Result<typeof fetch, Failure>>;
  readonly cleanse: (text: string) => string;
  /** Hears of each token that takes effect. */
  readonly onToken: (held: HeldToken) => void;
  readonly report: (outcome: ReloadOutcome) => void;
  readonly log: Log;
}

/** The token that programs get, across configurations. */
export interface CurrentKeeper {
  readonly keeper: () => TokenKeeper;
  /** Begins to obtain a token, and keeps one from then on. */
  start(): void;
  /** Reads the configuration again. Never throws; the outcome is reported. */
  reload(reason: ReloadReason): void;
  close(): Promise<void>;
}

/**
 * Creates it. Nothing is asked before the start, or the first request for a token.
 *
 * A reload that reads a bad configuration changes nothing. A good one takes effect once its first token is there, so
 * that programs have a token all the time; or at once, if there is none now that could be used.
 */
export function createCurrentKeeper(options: CurrentKeeperOptions): CurrentKeeper {
  const { log, report } = options;
  const jobs = createLatestJob();
  let current = make(options.settings, options.fetch);
  let isRefused = false;

  return {
    keeper: () => current,
    start: () => void current.get(),
    reload(reason) {
      const next = options.read();
      if (!next.ok) return refuseReload(reason, next.error.map(formatConfigProblem).join('; '));
      const { settings, warnings } = next.value;
      const changed = listChanged(current.settings, settings);
      if (reason === 'file_changed' && changed.length === 0) {
        if (isRefused) report({ event: 'configuration_good_again', reason });
        isRefused = false;
        return;
      }
      const superseded = (): void => report({ event: 'configuration_superseded', reason });
      jobs.run(async (signal) => {
        const why = await replaceBy(settings, signal);
        if (signal.aborted) return superseded();
        if (why !== undefined) return refuseReload(reason, why, changed);
        isRefused = false;
        report({ event: 'configuration_loaded', reason, changed, warnings });
      }, superseded);
    },
    async close() {
      current.close();
      await jobs.close();
    },
  };

  function refuseReload(reason: ReloadReason, problem: string, changed?: readonly string[]): void {
    isRefused = true;
    const common = { event: 'configuration_refused', reason, problem } as const;
    report(changed === undefined ? common : { ...common, changed });
  }

  /** @returns Why not, in one sentence. */
  async function replaceBy(
    settings: ClientSettings,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const network = await options.createFetch(settings);
    if (!network.ok) return network.error.description;
    const next = make(settings, network.value);
    const got = await next.get(signal);
    if (signal.aborted || (!got.ok && current.status().isUsable)) {
      next.close();
      return got.ok ? undefined : got.error.sentence;
    }
    const before = current;
    current = next;
    before.close();
    if (got.ok) take(got.value);
    return undefined;
  }

  function make(settings: ClientSettings, send: typeof fetch): TokenKeeper {
    const made: TokenKeeper = createTokenKeeper({
      settings,
      fetch: send,
      cleanse: options.cleanse,
      onToken: (held) => {
        if (made === current) take(held);
      },
      onUnavailable: (problem) => {
        if (made !== current) return;
        const { expiresAt, isUsable } = made.status();
        const until =
          isUsable && expiresAt !== undefined ? { usable_until: toTime(expiresAt) } : {};
        log('warn', 'token_unavailable', { problem, ...until });
      },
      onWarning: (warning) =>
        log('warn', 'configuration', { problem: formatConfigProblem(warning) }),
    });
    return made;
  }

  function take(held: HeldToken): void {
    const { expiresAt } = held.tokens;
    log('info', 'token_obtained', {
      expires_at: expiresAt === undefined ? null : toTime(expiresAt),
    });
    options.onToken(held);
  }
}

function toTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Names of the settings that differ. */
function listChanged(before: ClientSettings, after: ClientSettings): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter(
    (name) => !isDeepStrictEqual(Reflect.get(before, name), Reflect.get(after, name)),
  );
}
