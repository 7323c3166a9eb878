/**
 * The one token that the agent gives to programs, and the client that keeps it fresh.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  type ClientSettings,
  createClient,
  type ServiceTokenStatus,
  type TokenSet,
} from '@sallyport/client';
import type { ConfigProblem } from '@sallyport/config';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { toFailure, toThrownFailure } from '../terminal/report.ts';

/** A token and the header it travels in. */
export interface HeldToken {
  readonly tokens: TokenSet;
  /** Lower case. */
  readonly header: string;
}

/** Why there is no token, safe to show. */
export interface Unavailable {
  /** Stable identifier. */
  readonly reason: string;
  /** Since when and why, in one sentence without a period at its end. */
  readonly sentence: string;
}

/** One configuration's token. */
export interface TokenKeeper {
  readonly settings: ClientSettings;
  /** Waits for the first attempt only; never throws. */
  get(signal?: AbortSignal): Promise<Result<HeldToken, Unavailable>>;
  /** The platform refused this token: obtains another in the background, at most every 30 seconds. */
  reportRefused(tokens: TokenSet): void;
  status(): ServiceTokenStatus;
  /** Takes secrets out of a text: an answer may repeat what it was sent. */
  readonly cleanse: (text: string) => string;
  /** Ends the refresh. Calls of `get` are refused afterwards. */
  close(): void;
}

/** What {@link createTokenKeeper} needs. */
export interface TokenKeeperOptions {
  readonly settings: ClientSettings;
  readonly fetch: typeof fetch;
  /** As {@link TokenKeeper.cleanse}. */
  readonly cleanse: (text: string) => string;
  readonly onToken: (held: HeldToken) => void;
  readonly onUnavailable: (sentence: string) => void;
  readonly onWarning: (warning: ConfigProblem) => void;
}

const CLOSED: Unavailable = { reason: 'agent_stopping', sentence: 'The agent is about to stop' };

/** Creates it. Nothing is asked before the first `get`; from then on the token is refreshed ahead of need. */
export function createTokenKeeper(options: TokenKeeperOptions): TokenKeeper {
  const { settings, onToken, cleanse } = options;
  let isClosed = false;
  const client: Client = createClient(settings, {
    fetch: options.fetch,
    now: Date.now,
    wait: (ms, signal) => sleep(ms, undefined, { signal }),
    show: () => {},
    onWarning: options.onWarning,
    onOutage: (failure) => options.onUnavailable(describe(failure).sentence),
    refreshesAhead: true,
    keep: 'memory',
    onTokens: (tokens) => void announce(tokens),
  });
  return {
    settings,
    cleanse,
    async get(signal) {
      if (isClosed) return refuse(CLOSED);
      try {
        const [got, header] = await Promise.all([
          client.tokenSource.get(signal === undefined ? {} : { signal }),
          client.authorizationHeader(),
        ]);
        return got.ok ? accept({ tokens: got.value, header }) : refuse(describe(got.error));
      } catch (failure) {
        return refuse(isClosed ? CLOSED : describe(failure));
      }
    },
    reportRefused(tokens) {
      // A refusal is reported by `onOutage`, and by the next `get`.
      if (!isClosed) client.tokenSource.replace(tokens).catch(() => undefined);
    },
    status: () => client.tokenStatus() ?? NO_STATUS,
    close() {
      isClosed = true;
      client.close();
    },
  };

  async function announce(tokens: TokenSet): Promise<void> {
    try {
      onToken({ tokens, header: await client.authorizationHeader() });
    } catch (failure) {
      options.onUnavailable(describe(failure).sentence);
    }
  }

  function describe(failure: unknown): Unavailable {
    const isRefusal = !(failure instanceof Error) && isTokenRefusal(failure);
    const { error, description } = isRefusal ? toFailure(failure) : toThrownFailure(failure, false);
    return { reason: error, sentence: cleanse(description.replace(/\.$/, '')) };
  }
}

const NO_STATUS: ServiceTokenStatus = { expiresAt: undefined, isUsable: false, outage: undefined };

function isTokenRefusal(value: unknown): value is Parameters<typeof toFailure>[0] {
  return typeof value === 'object' && value !== null && 'error' in value && 'description' in value;
}
