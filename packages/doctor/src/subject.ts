/**
 * What is looked at: addresses, configurations, and the machine.
 *
 * @module
 */

import type { LoadedConfig } from '@sallyport/config';
import type { Network } from './network/network.ts';

/** The configuration of the admin service. */
export interface ServerSubject {
  /** Path of its file; empty when the environment holds all of it. */
  readonly file: string;
  readonly loaded: LoadedConfig;
}

/** Everything that probes are made from. */
export interface Subject {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Absent: files alone are looked at. */
  readonly network: Network | undefined;
  /** Origin of the platform; `undefined` when none is named. */
  readonly platformUrl: string | undefined;
  /** Where that address comes from, in words: an option or a setting. */
  readonly platformSetting: string;
  readonly server: ServerSubject | undefined;
}
