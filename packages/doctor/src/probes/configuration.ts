/**
 * What the configuration files say, before anything is asked.
 *
 * @module
 */

import { type ConfigProblem, formatConfigProblem } from '@sallyport/config';
import type { CauseCode } from '../finding/causes.ts';
import { type Finding, fail, warn } from '../finding/finding.ts';
import { broken, found, type Probe } from '../graph/probe.ts';
import type { ClientSubject, Subject } from '../subject.ts';

/** Causes of the requirement's "Errors" table that a file shows, by the key that is at fault. */
const CAUSE_BY_KEY: readonly (readonly [key: RegExp, code: CauseCode])[] = [
  [/^server\.security\.useAuth$/, 'auth_disabled'],
  [/^(?:union\.auth|executions\.app\.adminClient\.connection)\.enable$/, 'service_auth_disabled'],
  [/^secrets\.adminOauthClientCredentials\.enabled$/, 'scheduler_secret_not_enabled'],
  [/^secrets\.admin\.enable$/, 'data_plane_secret_not_enabled'],
  [/^auth\.(?:userAuth|appAuth)\..*\.clientId$/, 'client_ids_equal'],
  [/^secrets\.admin\.clientId$|\.clientId$/, 'client_ids_differ'],
  [/\.authorizationMetadataKey$|\.authorizationHeader$/, 'header_name_differs'],
];

/** What is found of a key that the schema does not have. */
const UNKNOWN_KEY = 'an unknown key';

/** Makes `config.server` and one probe for each block of a client. */
export function createConfigurationProbes({
  server,
  problems,
  clients,
  switchedOff,
}: Pick<Subject, 'server' | 'problems' | 'clients' | 'switchedOff'>): readonly Probe[] {
  const ofServer: Probe = {
    id: 'config.server',
    group: 'config',
    title: "the admin service's configuration",
    needs: [],
    run() {
      if (server === undefined) return broken(...causesFirst(problems).map(toProblemFinding));
      return found(undefined, [
        ...(server.loaded.config.server.security.useAuth ? [] : [toDisabledFinding(server.file)]),
        ...server.loaded.warnings.map(toWarningFinding),
      ]);
    },
  };
  const ofSwitches: Probe = {
    id: 'config.switches',
    group: 'config',
    title: 'what the files of services switch off',
    needs: [],
    run: () => found(undefined, switchedOff.map(toWarningFinding)),
  };
  const isServed = server !== undefined || problems.length > 0;
  return [
    ...(isServed ? [ofServer] : []),
    ...clients.map(toClientProbe),
    ...(switchedOff.length === 0 ? [] : [ofSwitches]),
    ...(clients.length > 1
      ? [toComparison(clients, server !== undefined && isSeparate(server))]
      : []),
  ];
}

function isSeparate({ loaded }: NonNullable<Subject['server']>): boolean {
  return loaded.config.auth.separateServiceApps;
}

function toClientProbe(
  { file, block, settings, problems, warnings }: ClientSubject,
  at: number,
): Probe {
  return {
    id: `config.client.${at + 1}`,
    group: 'config',
    title: `${block} of ${file}`,
    needs: [],
    run() {
      if (settings === undefined) return broken(...causesFirst(problems).map(toProblemFinding));
      const isNamed = warnings.some(({ key }) => key === `${block}.enable`);
      const disabled =
        settings.isEnabled || isNamed
          ? []
          : [
              toWarningFinding({
                file,
                line: undefined,
                key: `${block}.enable`,
                found: 'false',
                expected: 'true',
              }),
            ];
      return found(undefined, [...disabled, ...warnings.map(toWarningFinding)]);
    },
  };
}

/** Service apps of control plane and data plane: one, unless the configuration says that there are two. */
function toComparison(clients: readonly ClientSubject[], isSeparate: boolean): Probe {
  return {
    id: 'config.client-ids',
    group: 'config',
    title: 'the service app on both sides',
    needs: [],
    run() {
      const services = clients.filter(({ settings }) => settings?.isService === true);
      const ids = new Map(
        services.map(({ settings, file, block }) => [
          settings?.clientId ?? '',
          `${block}.clientId of ${file}`,
        ]),
      );
      if (ids.size < 2 || isSeparate) return found(undefined);
      const lines = [...ids].map(([id, place]) => `${place}: ${id}`);
      return found(undefined, [
        fail(
          'client_ids_differ',
          `control plane and data plane name different service apps: ${[...ids.keys()].join(' and ')}`,
          'Set AUTH_CLIENT_ID to the value of INTERNAL_CLIENT_ID, or auth.separateServiceApps to true if two are meant.',
          lines,
        ),
      ]);
    },
  };
}

function toDisabledFinding(file: string): Finding {
  return fail(
    'auth_disabled',
    'authentication is off: server.security.useAuth is false, so /login, /callback, /me and /logout are not registered',
    'Set server.security.useAuth to true and restart the admin service.',
    file === '' ? [] : [file],
  );
}

function toProblemFinding(problem: ConfigProblem): Finding {
  const code = causeOf(problem);
  const line = formatConfigProblem(problem);
  return code === 'header_name_differs'
    ? fail(
        code,
        `a client sends its token in another header than the admin service reads: found ${problem.found}, expected ${problem.expected}`,
        `Set ${problem.key} to the header that is expected.`,
        [line],
      )
    : fail(
        'config_invalid',
        `the configuration cannot be used: ${problem.key === '' ? 'the file' : problem.key}: found ${problem.found}, expected ${problem.expected}`,
        toCorrection(problem),
        [line],
      );
}

/** Names the setting as it stands where it is corrected: a variable stands in the environment, a key in a file. */
function toCorrection({ key, variable, file, found }: ConfigProblem): string {
  if (file === 'environment') return `Correct ${variable ?? key} in the environment.`;
  if (key === '') return `Correct ${file}.`;
  return variable !== undefined && found === 'nothing'
    ? `Write ${key} into ${file}, or set ${variable}.`
    : `Correct ${key} in ${file}.`;
}

/** A key that is misspelled is the cause of one that is missing, so it is said first. */
function causesFirst(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  return [
    ...problems.filter(({ found }) => found === UNKNOWN_KEY),
    ...problems.filter(({ found }) => found !== UNKNOWN_KEY),
  ];
}

function causeOf({ key }: ConfigProblem): CauseCode | undefined {
  return CAUSE_BY_KEY.find(([pattern]) => pattern.test(key))?.[1];
}

/** Sentences of the causes; what the schema's rules say is the evidence. */
const WHATS: Partial<Record<CauseCode, string>> = {
  auth_disabled: 'services are to authenticate, and the platform has authentication off',
  service_auth_disabled: 'internal services send no token, and receive 401',
  scheduler_secret_not_enabled: 'the scheduler has no secret mounted, and fails to start',
  data_plane_secret_not_enabled:
    'operator and propeller have no secret mounted, and cannot authenticate',
  client_ids_differ: 'control plane and data plane name different service apps',
  client_ids_equal: 'two of the three applications have one client ID',
  header_name_differs: 'a client sends its token in another header than the admin service reads',
};

function toWarningFinding(warning: ConfigProblem): Finding {
  const code = causeOf(warning);
  const what = code === undefined ? undefined : WHATS[code];
  const { key, variable, found, expected, file } = warning;
  const place = file === 'environment' ? '' : ` in ${file}`;
  // A switch is written as it has to stand; what it is for is in the evidence.
  const [, value] = /^(true|false)(?=$|[:,])/.exec(expected) ?? [];
  const name = variable ?? key;
  const setting = variable === undefined ? `${name}: ${value}` : `${name}=${value}`;
  const fix =
    value === undefined ? `Set ${name}${place}: expected ${expected}` : `Set ${setting}${place}.`;
  const evidence = [formatConfigProblem(warning)];
  return code === undefined || what === undefined
    ? warn('config_warning', `${key}: found ${found}, expected ${expected}`, fix, evidence)
    : fail(code, `${what}: ${key} is ${found}`, fix, evidence);
}
