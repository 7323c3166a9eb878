/**
 * Whose address a probe looks at.
 *
 * @module
 */

import type { Probe } from '../graph/probe.ts';

/** A server that is looked at, and where its address comes from. */
export interface Place {
  /** Prefix of the ids of its probes. */
  readonly id: string;
  /** Completes "the certificate of …". */
  readonly name: string;
  /** Its address. */
  readonly address: Probe<URL>;
  /** What to look at where the address is wrong: an option or a setting. */
  readonly setting: string;
}

/** The port of a URL. */
export function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}
