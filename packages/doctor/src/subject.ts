/**
 * What is looked at: addresses, configurations, and the machine.
 *
 * @module
 */

import type { ClientBlock, ClientSettings } from '@sallyport/client';
import type { ConfigProblem, LoadedConfig } from '@sallyport/config';
import type { ClusterSubject } from './cluster.ts';
import type { Probe } from './graph/probe.ts';
import type { Network } from './network/network.ts';
import type { Site } from './nginx/site.ts';

/** The configuration of the admin service. */
export interface ServerSubject {
  /** Path of its file; empty when the environment holds all of it. */
  readonly file: string;
  readonly loaded: LoadedConfig;
}

/** One block of a client's or a service's configuration file. */
export interface ClientSubject {
  readonly file: string;
  readonly block: ClientBlock;
  /** Absent where the file cannot be used; `problems` says why. */
  readonly settings: ClientSettings | undefined;
  readonly problems: readonly ConfigProblem[];
  readonly warnings: readonly ConfigProblem[];
}

/** The configuration of an nginx, as files. */
export interface NginxSubject {
  /** Of the file, for words. */
  readonly name: string;
  readonly sites: readonly Site[];
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
  /** Why the configuration of the admin service cannot be used; then `server` is absent. */
  readonly problems: readonly ConfigProblem[];
  readonly clients: readonly ClientSubject[];
  /** What the files of clients switch off beside their blocks. */
  readonly switchedOff: readonly ConfigProblem[];
  /** The API key in this environment, a secret; empty without one. */
  readonly apiKey: string;
  /** Absent: no cluster is looked at. */
  readonly cluster: ClusterSubject | undefined;
  /** Absent: no file of a proxy is looked at. */
  readonly nginx: NginxSubject | undefined;
  /** Probes of the machine, which are made by the command. */
  readonly further: readonly Probe[];
}
