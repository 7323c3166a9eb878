/**
 * What the command line asks of the webhook.
 *
 * @module
 */

import { resolve } from 'node:path';
import { accept, parseDuration, type Result, refuse } from '@sallyport/protocol';
import { type ListenAddress, readListenAddress } from '../process/listen-address.ts';
import type { CertificatePaths } from './certificate-files.ts';

/** Options of the command line. */
export interface InjectOptions {
  readonly config?: string;
  readonly listen: string;
  readonly tlsCert: string;
  readonly tlsKey: string;
  readonly metrics?: string;
  readonly drainDelay: string;
  readonly json?: boolean;
}

/** What is to be done. Paths are absolute. */
export interface InjectPlan {
  readonly listen: ListenAddress;
  readonly paths: CertificatePaths;
  readonly metrics: ListenAddress | undefined;
  readonly drainDelayMs: number;
}

const DRAIN_DELAY_MAX_MS = 300_000;

/**
 * Reads the options. Looks at no file.
 *
 * @param folder - Relative paths begin here.
 * @returns Otherwise what is wrong, in one sentence.
 */
export function planInjection(options: InjectOptions, folder: string): Result<InjectPlan, string> {
  const listen = readListenAddress(options.listen);
  if (listen === undefined) return refuse('--listen is HOST:PORT, such as 0.0.0.0:8443');
  const metrics = options.metrics === undefined ? undefined : readListenAddress(options.metrics);
  if (options.metrics !== undefined && metrics === undefined)
    return refuse('--metrics is HOST:PORT, such as 127.0.0.1:9464');
  const drainDelay = parseDuration(options.drainDelay);
  if (!drainDelay.ok || drainDelay.value > DRAIN_DELAY_MAX_MS)
    return refuse('--drain-delay is a duration of at most 5m, such as 5s');
  const paths = {
    certificate: resolve(folder, options.tlsCert),
    key: resolve(folder, options.tlsKey),
  };
  return accept({ listen, paths, metrics, drainDelayMs: drainDelay.value });
}
