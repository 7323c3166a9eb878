/**
 * Reloads whose attempts end when the test says so.
 *
 * @module
 */

import { type LoadedConfig, loadConfig } from '@sallyport/config';
import { accept, type Result, refuse } from '@sallyport/protocol';
import {
  createReloads,
  type ReloadOutcome,
  type ReloadRefusal,
  type Reloads,
} from '../../../cli/src/serve/reloads.ts';

const ENV = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_BASE_URL: 'https://idp.example.com',
  OIDC_CLIENT_ID: 'web',
  CLI_CLIENT_ID: 'native',
};
/** A configuration. */
export const FIRST: string = 'access: {groups: [core]}';
/** Another one. */
export const SECOND: string = 'access: {groups: [ops]}';
/** One that cannot be used. */
export const BAD: string = 'access: {groups: 7}';
/** One that is allowed and looks wrong. */
export const WARNED: string = 'auth: {userAuth: {cookieSetting: {sameSitePolicy: DefaultMode}}}';

/** How an attempt ends. */
type End = Result<undefined, ReloadRefusal>;

/** It is in effect. */
export const DONE: End = accept(undefined);
/** A newer one came. */
export const SUPERSEDED: End = refuse({ kind: 'superseded' });
/** It failed, and nothing has it. */
export const FAILED: End = refuse({ kind: 'failed', sentence: 'no' });
/** A newer one came when a part had it. */
export const HALF_SUPERSEDED: End = refuse({ kind: 'superseded', isPartial: true });
/** It failed when a part had it. */
export const HALF_FAILED: End = refuse({ kind: 'failed', sentence: 'no', isPartial: true });

const load = (text: string) =>
  loadConfig({ file: { path: 'core.yaml', text }, env: ENV, flags: {} }, 'serve');

/** One that is under way until the test ends it. */
interface Attempt {
  readonly signal: AbortSignal;
  readonly end: PromiseWithResolvers<End>;
}

/** Reloads, and what becomes of them. */
export interface BegunReloads {
  /** What is read next. */
  readonly state: { text: string };
  readonly outcomes: readonly ReloadOutcome[];
  readonly applied: readonly (Attempt & { readonly loaded: LoadedConfig })[];
  readonly restored: readonly Attempt[];
  readonly reloads: Reloads;
  endRestore(index: number, result?: End): Promise<void>;
  end(index: number, result?: End): Promise<void>;
}

/**
 * Begins with {@link FIRST} in effect; what is applied or restored ends when the test says so.
 *
 * @param options - `isRolling` rolls several workers.
 */
export function begin({ isRolling = false }: { readonly isRolling?: boolean } = {}): BegunReloads {
  const state = { text: FIRST };
  const outcomes: ReloadOutcome[] = [];
  const applied: (Attempt & { readonly loaded: LoadedConfig })[] = [];
  const restored: Attempt[] = [];
  const first = load(FIRST);
  if (!first.ok) throw new TypeError('the first is good');
  const reloads = createReloads({
    config: first.value.config,
    read() {
      const loaded = load(state.text);
      return loaded.ok ? accept({ loaded: loaded.value }) : loaded;
    },
    apply({ loaded }, signal) {
      const end = Promise.withResolvers<End>();
      applied.push({ loaded, signal, end });
      return end.promise;
    },
    ...(isRolling
      ? {
          restore(signal: AbortSignal) {
            const end = Promise.withResolvers<End>();
            restored.push({ signal, end });
            return end.promise;
          },
        }
      : {}),
    report: (outcome) => outcomes.push(outcome),
  });
  return {
    state,
    outcomes,
    applied,
    restored,
    reloads,
    async endRestore(index: number, result = DONE) {
      restored[index]?.end.resolve(result);
      await new Promise(setImmediate);
    },
    async end(index: number, result = DONE) {
      applied[index]?.end.resolve(result);
      await new Promise(setImmediate);
    },
  };
}
