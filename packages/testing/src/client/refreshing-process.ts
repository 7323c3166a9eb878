/**
 * A process that gets a token from the shared store, for tests with real processes.
 *
 * Started with an IPC channel. It asks for the folder and the addresses with `{ ready }`, says
 * `{ held }` when it holds the lock (and waits for `go` if it was asked to pause there), `{ exchanged }`
 * when the server has answered (and waits likewise), and at last `{ accessToken }` or `{ failure }`.
 *
 * @module
 */

import { accept, refuse } from '@sallyport/protocol';
import type { Grant } from '../../../client/src/grant.ts';
import { createFileTokenLock } from '../../../client/src/lock/file-token-lock.ts';
import type { TokenLock } from '../../../client/src/lock/token-lock.ts';
import { createTokenSource } from '../../../client/src/source/create-token-source.ts';
import { createFileTokenStore } from '../../../client/src/store/file-token-store.ts';
import { KEY } from './tokens.ts';

/** What the process receives, once it is ready. */
export interface RefreshingTask {
  readonly folder: string;
  readonly tokenEndpoint: string;
  /** Where it waits for `go`. */
  readonly pausesAt: 'held' | 'exchanged' | undefined;
  /** Epoch milliseconds of its clock. */
  readonly now: number;
}

/** What it says. */
export type RefreshingReport =
  | { readonly ready: true }
  | { readonly reached: 'held' | 'exchanged' }
  | { readonly accessToken: string }
  | { readonly failure: string };

process.once('message', (task: RefreshingTask) => {
  work(task)
    .then(report, (error: unknown) => report({ failure: String(error) }))
    .finally(() => process.disconnect?.());
});
report({ ready: true });

async function work({
  folder,
  tokenEndpoint,
  pausesAt,
  now,
}: RefreshingTask): Promise<RefreshingReport> {
  const files = createFileTokenLock({ folder, now: () => now });
  const lock: TokenLock = {
    async acquire(name, wait) {
      const lease = await files.acquire(name, wait);
      await reach('held');
      return lease;
    },
  };
  const grant: Grant = {
    kind: 'pkce',
    isInteractive: true,
    obtain: () => Promise.reject(new Error('no person to ask')),
    async refresh(refreshToken) {
      const body = new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
      });
      const response = await fetch(tokenEndpoint, { method: 'POST', body });
      const answer = (await response.json()) as Record<string, string>;
      await reach('exchanged');
      if (!response.ok) return refuse({ error: answer['error'] ?? '', description: '', hint: '' });
      return accept({
        accessToken: answer['access_token'] ?? '',
        expiresAt: now + 3_600_000,
        obtainedAt: now,
        refreshToken: answer['refresh_token'],
        scopes: [],
      });
    },
  };
  const store = createFileTokenStore(folder);
  const openStore = async () => store;
  const source = createTokenSource({ key: KEY, grant, now: () => now, openStore, lock });
  const result = await source.get();
  return result.ok ? { accessToken: result.value.accessToken } : { failure: result.error.error };

  async function reach(place: 'held' | 'exchanged'): Promise<void> {
    report({ reached: place });
    if (pausesAt === place) await new Promise((go) => process.once('message', go));
  }
}

function report(message: RefreshingReport): void {
  process.send?.(message);
}
