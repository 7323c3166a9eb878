/**
 * Opens a platform from the inputs of a command.
 *
 * @module
 */

import { resolve } from 'node:path';
import { loadClientSettings } from '@sallyport/client';
import { type ConfigProblem, formatConfigProblem } from '@sallyport/config';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { readProfiles } from '../profile/profiles.ts';
import { refuseProjectChoice } from '../profile/project-credentials.ts';
import type { Sources } from '../profile/sources.ts';
import type { Failure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';
import { createPlatform } from './create-platform.ts';
import { createFetch } from './network.ts';
import type { Platform } from './platform.ts';
import { readStoreChoice } from './token-store.ts';

/** What only some commands say. */
export interface OpenOptions {
  /** Takes the settings for a person, whatever credentials of an application are there. */
  readonly isPersonal?: boolean;
  /** How long a person has, a duration as text. */
  readonly timeout?: string;
}

/**
 * Opens the platform of the selected profile. Sends no request yet, and opens no store.
 *
 * @returns Otherwise what is wrong with files, variables and options, all at once.
 */
export async function openPlatform(
  sources: Sources,
  stdio: Stdio,
  { isPersonal = false, timeout }: OpenOptions = {},
): Promise<Result<Platform, Failure>> {
  const { options, environment } = sources;
  const profiles = readProfiles(sources);
  if (!profiles.ok) return profiles;
  const { selected: profile, settingsOf } = profiles.value;
  const file = settingsOf(profile.name);
  const loaded = loadClientSettings({
    env: environment,
    findsPerson: true,
    ...(file.text.trim() === '' ? {} : { file }),
    flags: {
      'admin.endpoint': options.endpoint,
      'admin.caCertFilePath': options.caFile === undefined ? undefined : resolve(options.caFile),
      'admin.authType': isPersonal ? 'Pkce' : undefined,
      'admin.pkceConfig.timeout': timeout,
      'admin.deviceFlowConfig.timeout': timeout,
    },
  });
  if (!loaded.ok) return refuse(toFailure(loaded.error, profile.isKnown));
  const refusal = refuseProjectChoice(profile, loaded.value, environment);
  if (refusal !== undefined) return refuse(refusal);
  const { settings } = loaded.value;
  const storeChoice = readStoreChoice(environment, settings.disableKeyring);
  if (!storeChoice.ok) return storeChoice;
  const endpoint = settings.endpoint?.origin ?? '';
  const network = await createFetch(
    { ...settings, endpoint },
    environment,
    stdio.conceal,
    createLateFetch,
  );
  if (!network.ok) return network;
  const parts = {
    profile,
    loaded: loaded.value,
    storeChoice: storeChoice.value,
    fetch: network.value,
    warn: (sentence: string) => stdio.error(`warning: ${sentence}`),
  };
  return accept(createPlatform(parts, sources));
}

/** Loads what sends with the first request: a command that finds its token in the store sends none. */
function createLateFetch(): typeof fetch {
  let loading: Promise<typeof fetch> | undefined;
  return async (input, init) => {
    loading ??= import('../process/plain-fetch.ts').then(({ createCommandFetch }) =>
      createCommandFetch(),
    );
    return (await loading)(input, init);
  };
}

function toFailure(problems: readonly ConfigProblem[], isProfileKnown: boolean): Failure {
  const isEndpointMissing = problems.some(
    ({ key, found }) => key === 'admin.endpoint' && found === 'nothing',
  );
  const isWithoutPlatform = isEndpointMissing && !isProfileKnown;
  const isFirstTime = isWithoutPlatform && problems.length === 1;
  return {
    error: 'invalid_configuration',
    description: isFirstTime ? 'No platform is set up yet.' : problems.map(describe).join('\n'),
    hint: isWithoutPlatform
      ? 'Name it once: sallyport login --endpoint https://platform.example.com'
      : '',
    exitCode: EXIT.failure,
  };
}

/** Errors name the option as it was given, not the setting that it sets. */
const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['admin.endpoint', '--endpoint'],
  ['admin.caCertFilePath', '--ca-file'],
  ['admin.pkceConfig.timeout', '--timeout'],
]);

function describe(problem: ConfigProblem): string {
  const option = problem.file === 'flag' ? OPTIONS.get(problem.key) : undefined;
  return formatConfigProblem(
    option === undefined ? problem : { ...problem, file: option, line: undefined, key: '' },
  );
}
