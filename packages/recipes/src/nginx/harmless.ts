/**
 * What may be written into an nginx configuration.
 *
 * @module
 */

/** Kinds of names that options hold. */
export type NameKind =
  | 'backend'
  | 'group'
  | 'path'
  | 'rpc'
  | 'header'
  | 'claim'
  | 'folder'
  | 'upstream'
  | 'host';

const SHAPES: Readonly<Record<NameKind, RegExp>> = {
  backend: /^[a-z][a-z0-9-]{0,62}$/,
  group: /^[a-z][a-z0-9-]{0,62}$/,
  path: /^\/(?:[A-Za-z0-9._~-]*[A-Za-z0-9_~-](?:\/[A-Za-z0-9._~-]*[A-Za-z0-9_~-])*)?$/,
  rpc: /^[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*(?:\/[A-Za-z0-9_]*\*?)?$/,
  header: /^[A-Za-z](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?$/,
  folder: /^\/?[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/,
  upstream:
    /^(?:unix:(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+){1,16}|(?:\[[0-9A-Fa-f:]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?):\d{1,5})$/,
  host: /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/,
  claim: /^[A-Za-z0-9._:/-]{1,200}$/,
};

/**
 * Lets through only what cannot end a word, a directive or a block, or name a variable (CVE-2025-1974).
 *
 * @throws {TypeError} Otherwise.
 */
export function harmless(kind: NameKind, value: string): string {
  if (!SHAPES[kind].test(value)) throw new TypeError(`${kind} cannot be written into nginx`);
  return value;
}
