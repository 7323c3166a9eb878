/**
 * What one process knows of the tokens of one key: its memory, and the store behind it.
 *
 * @module
 */

import type { LockLease } from '../lock/token-lock.ts';
import type { TokenSet } from '../token-set.ts';
import type { TokenKey, TokenStore } from '../token-store.ts';

/** What {@link KeptTokens} needs. */
export interface KeptTokensOptions {
  readonly key: TokenKey;
  /** Absent: the memory is all there is. */
  readonly openStore: (() => Promise<TokenStore>) | undefined;
  /** Hears that tokens could not be written; they are used all the same. */
  readonly onOutage: (failure: unknown) => void;
}

/** Memory in front of a store that other processes change too. */
export class KeptTokens {
  readonly #options: KeptTokensOptions;
  #store: Promise<TokenStore> | undefined;
  #current: TokenSet | undefined;
  /** The access token the store holds, as far as this process has seen. */
  #stored: string | undefined;
  /** Tokens the store did not take, and the access token they take the place of there. */
  #unwritten: { readonly tokens: TokenSet; readonly supersedes: string | undefined } | undefined;

  constructor(options: KeptTokensOptions) {
    this.#options = options;
  }

  /** What this process used or obtained last. */
  get current(): TokenSet | undefined {
    return this.#current;
  }

  /** Goes on with these, which came from {@link KeptTokens.read}. */
  use(tokens: TokenSet): void {
    this.#current = tokens;
  }

  /**
   * Reads what is kept now.
   *
   * The store decides, because another process may have renewed or removed its tokens; except where
   * ours could not be written and the store has not changed since: what it holds is spent.
   *
   * @throws {SallyportError} `SP_TOKEN_STORE_UNUSABLE`.
   */
  async read(): Promise<TokenSet | undefined> {
    const store = await this.#open();
    if (store === undefined) return this.#current;
    const stored = await store.read(this.#options.key);
    this.#stored = stored?.accessToken;
    if (this.#unwritten !== undefined) {
      if (stored?.accessToken === this.#unwritten.supersedes) return this.#unwritten.tokens;
      this.#unwritten = undefined;
    }
    return stored;
  }

  /**
   * Keeps new tokens. A store that cannot be written, or a lock that was lost, costs the others a
   * sign-in, but never this process its tokens.
   */
  async write(tokens: TokenSet, lease: LockLease): Promise<void> {
    this.#current = tokens;
    this.#unwritten = { tokens, supersedes: this.#stored };
    if (!lease.isHeld()) return;
    try {
      const store = await this.#open();
      await store?.write(this.#options.key, tokens);
      this.#stored = tokens.accessToken;
      this.#unwritten = undefined;
    } catch (failure) {
      this.#options.onOutage(failure);
    }
  }

  /** Forgets tokens that are worth nothing any more, here and in the store. */
  async remove(lease: LockLease): Promise<void> {
    this.forget();
    if (!lease.isHeld()) return;
    try {
      const store = await this.#open();
      await store?.remove(this.#options.key);
      this.#stored = undefined;
    } catch (failure) {
      this.#options.onOutage(failure);
    }
  }

  /** Forgets them here only: another process removed them from the store. */
  forget(): void {
    this.#current = undefined;
    this.#unwritten = undefined;
  }

  async #open(): Promise<TokenStore | undefined> {
    if (this.#options.openStore === undefined) return undefined;
    this.#store ??= this.#options.openStore();
    try {
      return await this.#store;
    } catch (failure) {
      // A keyring that was locked may be open the next time.
      this.#store = undefined;
      throw failure;
    }
  }
}
