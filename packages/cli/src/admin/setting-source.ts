/**
 * Where the value of a setting came from, as a problem names it.
 *
 * @module
 */

import type { LoadedConfig } from '@sallyport/config';

const ENVIRONMENT = 'environment';

/**
 * Names the configuration file, `environment` or `flag`.
 *
 * @param file - Path of the configuration file, when there is one.
 */
export function sourceOf(
  origins: LoadedConfig['origins'],
  key: string,
  file: string | undefined,
): string {
  const origin = origins.get(key) ?? 'default';
  if (origin === 'flag') return origin;
  return origin === 'env' ? ENVIRONMENT : (file ?? ENVIRONMENT);
}
