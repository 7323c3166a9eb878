/**
 * The API key in the environment.
 *
 * @module
 */

import { type ClientConfig, type ConfigProblem, SecretText } from '@sallyport/config';
import { API_KEY_VARIABLE, describeApiKeyRefusal, parseApiKey } from '@sallyport/protocol';
import type { ClientSecretSource, ClientSettings } from './client-settings.ts';
import { parseEndpoint } from './endpoint.ts';
import { isStronger } from './precedence.ts';
import { API_KEY_VARIABLES, POD_VARIABLE } from './variables.ts';

/** What an API key says. */
export interface FoundApiKey {
  readonly variable: string;
  readonly endpoint: NonNullable<ClientSettings['endpoint']>;
  readonly clientId: string;
  readonly clientSecret: ClientSecretSource;
}

/**
 * Finds the API key: `_UNION_EAGER_API_KEY`, which is what was injected into a pod, then
 * `EAGER_API_KEY`, then `FLYTE_API_KEY`. The first one given counts, even when it is wrong.
 *
 * An endpoint from a flag or variable that is not the key's own is a problem: a key's credentials go
 * to the platform that it names and to no other.
 */
export function findApiKey(
  { config, origins, unsound, placeOf }: ClientConfig,
  env: Readonly<Record<string, string | undefined>>,
  problems: ConfigProblem[],
): FoundApiKey | undefined {
  const variable = API_KEY_VARIABLES.find((name) => (env[name] ?? '') !== '');
  if (variable === undefined) return undefined;
  const parsed = parseApiKey(env[variable] ?? '');
  const place = { file: 'environment', line: undefined, variable };
  if (!parsed.ok) {
    const { found, expected } = describeApiKeyRefusal(parsed.error);
    problems.push({ ...place, key: 'apiKey', found, expected });
    return undefined;
  }
  const { host, clientId, clientSecret } = parsed.value;
  const endpoint = parseEndpoint(host, false);
  if (!endpoint.ok) {
    problems.push({ ...place, key: 'apiKey', ...describeApiKeyRefusal('endpoint_not_a_host') });
    return undefined;
  }
  const key = 'admin.endpoint';
  const { admin } = config;
  if (isStronger(origins.get(key) ?? 'default', 'file') && !unsound.has(key)) {
    const given = parseEndpoint(admin.endpoint, admin.insecure);
    if (!given.ok || given.value.origin !== endpoint.value.origin)
      problems.push({
        ...placeOf(key),
        key,
        found: 'an endpoint other than that of the API key',
        expected: `the one that ${variable} is for, or none`,
      });
  }
  return {
    variable,
    endpoint: endpoint.value,
    clientId,
    clientSecret: { from: 'text', secret: new SecretText(clientSecret) },
  };
}

/**
 * What a program in a pod has to be given where it has no API key and no way of its own is named: the default would
 * ask a person to sign in by browser, and a pod has neither.
 *
 * @returns Nothing outside of a pod, and where a key is given, even a wrong one.
 */
export function findMissingApiKey(
  env: Readonly<Record<string, string | undefined>>,
): ConfigProblem | undefined {
  const isGiven = (name: string): boolean => (env[name] ?? '') !== '';
  if (!isGiven(POD_VARIABLE) || API_KEY_VARIABLES.some(isGiven)) return undefined;
  return {
    file: 'environment',
    line: undefined,
    key: 'apiKey',
    variable: API_KEY_VARIABLE,
    found: 'nothing, in a pod',
    expected:
      'the API key: provision its Secret, and label the pod and its namespace so that the executor injects it; or another way, named in admin.authType',
  };
}
