/**
 * Settings from short sources, for tests.
 *
 * @module
 */

import { formatConfigProblem } from '@sallyport/config';
import type { LoadedClientSettings } from '../../../client/src/settings/client-settings.ts';
import {
  type ClientSettingsSources,
  loadClientSettings,
} from '../../../client/src/settings/load-client-settings.ts';

/** Address of the platform in tests. */
export const ENDPOINT = 'dns:///platform.example.com';
/** What every test has unless it says otherwise. */
export const BASE: Readonly<Record<string, string>> = { CORE_PLATFORM_URL: ENDPOINT };

/** Sources, the file as text alone. */
export interface Given extends Omit<Partial<ClientSettingsSources>, 'file'> {
  readonly text?: string;
}

function attempt({
  text,
  env = BASE,
  flags = {},
  ...rest
}: Given): ReturnType<typeof loadClientSettings> {
  const file = text === undefined ? {} : { file: { path: 'config.yaml', text } };
  return loadClientSettings({ env, flags, ...file, ...rest });
}

/** Loads settings that must be good. */
export function load(given: Given): LoadedClientSettings {
  const result = attempt(given);
  if (!result.ok) throw new Error(result.error.map(formatConfigProblem).join('\n'));
  return result.value;
}

/** Every problem of settings, formatted. */
export function problemsOf(given: Given): readonly string[] {
  const result = attempt(given);
  return result.ok ? [] : result.error.map(formatConfigProblem);
}
