/**
 * A service that reads its settings from a block of the configuration file, and calls the platform.
 *
 * @module
 */

import {
  type Client,
  type ClientBlock,
  type ClientSettingsSources,
  createClient,
  loadClientSettings,
} from '@sallyport/client';
import { formatConfigProblem } from '@sallyport/config';
import { stringify } from 'yaml';

/** What a service is given. */
export interface Given {
  readonly block: ClientBlock;
  /** The content of the file, as values. */
  readonly file?: object;
  readonly environment?: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
}

/** A service that has read its settings. */
export interface InternalService extends Client {
  /** What it was warned of at its start. */
  readonly warnings: readonly string[];
  /** What it was warned of since, when it read its secret. */
  heard(): readonly string[];
  /** Lets time pass, for this service alone. */
  advance(ms: number): void;
}

/** Starts a service whose settings must be good. */
export function startInternalService(given: Given): InternalService {
  const loaded = loadClientSettings(sourcesOf(given));
  if (!loaded.ok) throw new Error(loaded.error.map(formatConfigProblem).join('\n'));
  let ahead = 0;
  const heard: string[] = [];
  const client = createClient(loaded.value.settings, {
    fetch: given.fetch ?? fetch,
    now: () => Date.now() + ahead,
    wait: () => Promise.reject(new Error('a service does not wait for a person')),
    show: () => {
      throw new Error('a service asks no person');
    },
    onWarning: (warning) => void heard.push(formatConfigProblem(warning)),
    refreshesAhead: true,
    startSpreadMs: 0,
    random: () => 0,
  });
  return {
    ...client,
    warnings: loaded.value.warnings.map(formatConfigProblem),
    heard: () => heard,
    advance(ms) {
      ahead += ms;
    },
  };
}

/** What a service says of its settings instead of starting; empty when they are good. */
export function problemsOf(given: Given): readonly string[] {
  const loaded = loadClientSettings(sourcesOf(given));
  return loaded.ok ? [] : loaded.error.map(formatConfigProblem);
}

function sourcesOf({ block, file = {}, environment = {} }: Given): ClientSettingsSources {
  return {
    block,
    file: { path: 'service.yaml', text: stringify(file) },
    env: environment,
    flags: {},
  };
}
