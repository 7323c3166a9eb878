/**
 * What differs between two configurations, and what of it a running service cannot take over.
 *
 * @module
 */

import { isDeepStrictEqual } from 'node:util';
import type { Config } from './config.ts';
import { isWithin, type PlacedSetting, SETTINGS } from './schema/schema.ts';
import { SecretText } from './secret-text.ts';

/** Outcome of {@link listChanges}; keys in the order of the schema. */
export interface ConfigChanges {
  /** Every key whose value differs. */
  readonly changed: readonly string[];
  /** Those of them that take effect only when the service is started again. */
  readonly needRestart: readonly string[];
}

/**
 * What a process opens once: the port, the store with its sessions and their keys, the workers, and the outputs
 * of log, metrics and traces. Each is a key, or a block with all its keys.
 */
const OPENED_ONCE: readonly string[] = [
  'listen',
  'observe',
  'server.listen',
  'server.security.useAuth',
  'server.socketGroup',
  'server.socketMode',
  'server.workers',
  'session.keyRingFile',
  'session.redis',
  'session.store',
  'stateDirectory',
];

/** Compares two configurations, key by key. Names keys alone, never a value. */
export function listChanges(before: Config, after: Config): ConfigChanges {
  const changed = SETTINGS.filter(
    (placed) => !isDeepStrictEqual(settingValue(before, placed), settingValue(after, placed)),
  ).map(({ key }) => key);
  return {
    changed,
    needRestart: changed.filter((key) => OPENED_ONCE.some((block) => isWithin(key, block))),
  };
}

function settingValue(config: Config, { path, setting }: PlacedSetting): unknown {
  const suffix = setting.kind.unit === 'milliseconds' ? 'Ms' : '';
  let value: unknown = config;
  for (const [depth, name] of path.entries())
    value = (value as Record<string, unknown>)[depth === path.length - 1 ? name + suffix : name];
  return value instanceof SecretText ? value.reveal() : value;
}
