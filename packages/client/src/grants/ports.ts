/**
 * What the grants need of the world outside.
 *
 * @module
 */

import type { ConfigProblem } from '@sallyport/config';

/** Something a person has to see in order to sign in. Everything in it is safe to print. */
export type SignInPrompt =
  /** Open this address. Shown always, because no opener can be trusted to have opened anything. */
  | { readonly kind: 'browser'; readonly url: string; readonly redirectUri: string }
  /** Go to an address on any device and compare or enter the code. */
  | {
      readonly kind: 'device_code';
      readonly userCode: string;
      /** Where the code is entered. */
      readonly verificationUri: string;
      /** The same with the code in it; absent when the server gives none. */
      readonly verificationUriComplete: string | undefined;
      /** Epoch milliseconds. */
      readonly expiresAt: number;
    }
  /** What was pasted is not the answer waited for; another attempt is possible. */
  | { readonly kind: 'paste_refused'; readonly description: string }
  /** The answer has arrived; no more input is taken. */
  | { readonly kind: 'answer_received' };

/** Waits; rejects with the signal's reason as soon as it is aborted. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

/** What every grant needs. */
export interface GrantPorts {
  /** Must bring certificates and proxy settings with it; redirects and limits are set by the caller. */
  readonly fetch: typeof fetch;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly wait: Wait;
}

/** What the grants for people need besides. */
export interface InteractivePorts extends GrantPorts {
  readonly show: (prompt: SignInPrompt) => void;
  /**
   * Opens an http(s) address; absent when no browser is to be opened. Never through a shell. Its
   * outcome is not looked at: openers report success without a window.
   */
  readonly openBrowser?: (url: string) => unknown;
  /**
   * Hands in what a person pastes: the callback address their browser could not open.
   *
   * @returns Ends it.
   */
  readonly pasted?: (take: (text: string) => void) => () => void;
}

/** What grants that read secrets need besides. */
export interface SecretPorts extends GrantPorts {
  /** Hears of white space around a secret in a file, at each reading. */
  readonly onWarning: (warning: ConfigProblem) => void;
}
