/**
 * Where the client secret comes from.
 *
 * @module
 */

import {
  type ClientConfig,
  type ConfigProblem,
  describeFound,
  type Origin,
  SecretText,
} from '@sallyport/config';
import type { ClientSecretSource } from './client-settings.ts';
import { isStronger } from './precedence.ts';
import { listSecretVariables } from './variables.ts';

/** A secret's place, and which source named it. */
export interface FoundSecret {
  readonly source: ClientSecretSource;
  /** `default` when no setting names one: the file where deployments mount it. */
  readonly origin: Origin;
}

const FILE_KEY = 'admin.clientSecretLocation';
const VARIABLE_KEY = 'admin.clientSecretEnvVar';
// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const UNUSABLE = /[\u0000-\u001f\u007f]|^\s|\s$/;

/**
 * Finds the client secret: the stronger source wins; within one source the secret itself wins over
 * the name of a variable, and that over a file, as in existing clients. Nothing is trimmed.
 */
export function findClientSecret(
  { config: { admin }, origins, placeOf }: ClientConfig,
  env: Readonly<Record<string, string | undefined>>,
  brand: string,
  problems: ConfigProblem[],
): FoundSecret {
  const candidates: FoundSecret[] = [];
  const direct = readDirect(env, brand, problems);
  if (direct !== undefined) candidates.push({ source: direct, origin: 'env' });
  if (admin.clientSecretEnvVar !== '') {
    const text = env[admin.clientSecretEnvVar] ?? '';
    if (text === '')
      problems.push({
        ...placeOf(VARIABLE_KEY),
        key: VARIABLE_KEY,
        found: 'the name of a variable that is not set',
        expected: 'one that holds the client secret',
      });
    else {
      checkText(text, admin.clientSecretEnvVar, problems);
      const source: ClientSecretSource = { from: 'text', secret: new SecretText(text) };
      candidates.push({ source, origin: origins.get(VARIABLE_KEY) ?? 'default' });
    }
  }
  const path = admin.clientSecretLocation;
  const file: ClientSecretSource = { from: 'file', path, key: FILE_KEY };
  candidates.push({ source: file, origin: origins.get(FILE_KEY) ?? 'default' });
  return candidates.reduce((best, next) => (isStronger(next.origin, best.origin) ? next : best));
}

function readDirect(
  env: Readonly<Record<string, string | undefined>>,
  brand: string,
  problems: ConfigProblem[],
): ClientSecretSource | undefined {
  const [first, ...others] = listSecretVariables(brand).filter((name) => (env[name] ?? '') !== '');
  if (first === undefined) return undefined;
  const text = env[first] ?? '';
  for (const name of others)
    if (env[name] !== text)
      problems.push({
        file: 'environment',
        line: undefined,
        key: 'admin.clientSecret',
        variable: name,
        found: describeFound(env[name], true),
        expected: `the same as in ${first}, or one of the two alone`,
      });
  checkText(text, first, problems);
  return { from: 'text', secret: new SecretText(text) };
}

function checkText(text: string, variable: string, problems: ConfigProblem[]): void {
  if (!UNUSABLE.test(text)) return;
  const what = text.endsWith('\n') ? 'a newline at its end' : 'white space around it';
  const found = /\S/.test(text) && /^\s|\s$/.test(text) ? what : 'control characters';
  problems.push({
    file: 'environment',
    line: undefined,
    key: 'admin.clientSecret',
    variable,
    found: `a secret with ${found}`,
    expected: 'the secret alone',
  });
}
