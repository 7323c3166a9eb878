/**
 * A configuration in a form that can be printed.
 *
 * @module
 */

import type { JsonValue } from '@sallyport/protocol';
import type { Config } from './config.ts';
import { SETTINGS } from './schema/schema.ts';

/**
 * Writes a configuration the way the file does, secrets as `[secret]`.
 *
 * Durations are text again, and a key that is not set and has no default is left out. Of a complete
 * configuration the output is itself a configuration file that gives the same one, but for secrets;
 * a block of another command that lacks a required key is printed as it is.
 */
export function redactConfig(config: Config): JsonValue {
  const root: Record<string, JsonValue> = {};
  for (const { path, setting } of SETTINGS) {
    const suffix = setting.kind.unit === 'milliseconds' ? 'Ms' : '';
    let value: unknown = config;
    let block = root;
    for (const [depth, name] of path.entries()) {
      const isLast = depth === path.length - 1;
      value = (value as Record<string, unknown>)[isLast ? name + suffix : name];
      if (isLast) break;
      block[name] ??= {};
      block = block[name] as Record<string, JsonValue>;
    }
    const printed = setting.kind.print(value);
    if (printed !== '') block[path.at(-1) ?? ''] = printed;
  }
  return root;
}
