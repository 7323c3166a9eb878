/**
 * What is injected into task pods, without the rest of the configuration.
 *
 * @module
 */

import { accept, type Result } from '@sallyport/protocol';
import type { InjectionConfig } from './config.ts';
import { readKeys } from './part-config.ts';
import type { ConfigProblem } from './problems.ts';
import type { ConfigSources } from './resolve-settings.ts';

const KEYS: readonly string[] = [
  'unionAuth.injectSecret',
  'unionAuth.secretName',
  'unionAuth.podLabel',
  'unionAuth.namespaceLabel',
];

/**
 * Reads the block `unionAuth`. Checks only that: the data plane has no other part of the configuration.
 *
 * @param sources - File, environment and flags; all untrusted.
 *
 * @returns Otherwise the problems of these keys, or why the file is not readable.
 */
export function readInjectionConfig(
  sources: ConfigSources,
): Result<InjectionConfig, readonly ConfigProblem[]> {
  const read = readKeys(sources, KEYS);
  return read.ok ? accept(read.value.unionAuth) : read;
}
