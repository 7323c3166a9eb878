/**
 * The operating system's keyring, as far as tokens need it.
 *
 * @module
 */

import type { Result } from '@sallyport/protocol';

/**
 * Items of this program, by account name. Values are secrets.
 *
 * All calls but `probe` reject with `SP_TOKEN_STORE_UNUSABLE` when the keyring failed or did not
 * answer in time.
 */
export interface Keyring {
  /** Characters that one item can hold; more is not written. */
  readonly itemMaxLength: number;
  read(account: string): Promise<string | undefined>;
  /** Replaces the item. */
  write(account: string, value: string): Promise<void>;
  /** That there is none does no harm. */
  remove(account: string): Promise<void>;
  /**
   * Writes, reads and removes an item of its own, once in a process however often it is called.
   *
   * @returns Refused with the reason, in words, when the keyring does not do what it should.
   */
  probe(): Promise<Result<undefined, string>>;
  /** Ends what runs beside this process; the next call starts it again. */
  close(): void;
}

/** What is asked of the process beside. */
export interface KeyringRequest {
  readonly call: 'read' | 'write' | 'remove';
  readonly account: string;
  /** For `write`. */
  readonly value?: string;
}

/** What it answers; first of all, before any request, `{ ready: true }`. */
export type KeyringReply =
  | { readonly ready: true }
  | { readonly value: string | null }
  | { readonly failure: string };
