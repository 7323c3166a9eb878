/**
 * An authorization server in memory that rotates refresh tokens, and ends everything when one is used twice.
 *
 * @module
 */

import { accept, refuse, SallyportError } from '@sallyport/protocol';
import type { Grant } from '../../../client/src/grant.ts';
import type { TokenSet } from '../../../client/src/token-set.ts';
import { HOUR } from './tokens.ts';

/** What the server saw, and its switches. */
export class RotatingIssuer {
  readonly #now: () => number;
  #count = 0;
  /** The one refresh token that works. */
  #valid: string | undefined;
  /** How many refreshes were answered with new tokens. */
  refreshes = 0;
  /** How many refresh tokens were used that did not work any more. */
  reuses = 0;
  /** How many grants were obtained anew. */
  grants = 0;
  /** What the next exchanges are answered with instead. */
  fault: 'unreachable' | 'temporarily_unavailable' | 'same_token' | 'no_refresh_token' | undefined;
  /** Called before each answer. */
  onExchange: () => Promise<void> = async () => undefined;
  lifetimeMs: number | undefined = HOUR;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A sign-in that happened before. */
  issue(): TokenSet {
    this.#count += 1;
    const refreshToken = `refresh-${this.#count}`;
    this.#valid = refreshToken;
    return {
      accessToken: `access-${this.#count}`,
      expiresAt: this.lifetimeMs === undefined ? undefined : this.#now() + this.lifetimeMs,
      obtainedAt: this.#now(),
      refreshToken,
      scopes: ['all'],
    };
  }

  /** Ends what was signed in. */
  revoke(): void {
    this.#valid = undefined;
  }

  /** The grant of one client of this server. */
  createGrant(more: Partial<Grant> = {}): Grant {
    return {
      kind: 'pkce',
      isInteractive: true,
      obtain: async (options) => {
        await this.onExchange();
        options?.signal?.throwIfAborted();
        if (this.fault === 'unreachable') throw unreachable();
        this.grants += 1;
        return accept(this.issue());
      },
      refresh: async (refreshToken) => {
        await this.onExchange();
        if (this.fault === 'unreachable') throw unreachable();
        if (this.fault === 'temporarily_unavailable')
          return refuse({ error: this.fault, description: '', hint: '' });
        if (refreshToken !== this.#valid) {
          this.reuses += 1;
          this.#valid = undefined;
          return refuse({ error: 'invalid_grant', description: '', hint: '' });
        }
        this.refreshes += 1;
        const tokens = this.issue();
        if (this.fault === 'no_refresh_token') {
          this.#valid = refreshToken;
          return accept({ ...tokens, refreshToken: undefined });
        }
        return accept(tokens);
      },
      ...more,
    };
  }
}

function unreachable(): SallyportError {
  return new SallyportError('SP_IDP_UNREACHABLE', { component: 'idp' });
}
