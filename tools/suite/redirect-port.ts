/**
 * Keeps the native app's redirect port for the tests of a run, before the first of them begins.
 *
 * @module
 */

import { keepRedirectPort } from '../../conformance/wire/redirect-port.ts';

/** On the global object: each project that names this file gets a copy of the module. */
const KEPT = Symbol.for('sallyport.suite.redirect-port');

/** Once in a run. Vitest calls it by this name (`globalSetup`). */
export function setup(): Promise<void> {
  const kept: { [KEPT]?: Promise<void> } = globalThis as object;
  kept[KEPT] ??= keepRedirectPort();
  return kept[KEPT];
}
