/**
 * Environment variables that look like ours and are none: a mistake in a name would otherwise have no effect and no message.
 *
 * @module
 */

import { withoutUnprintable } from '@sallyport/protocol';
import type { ConfigProblem } from './problems.ts';
import { SETTINGS } from './schema/schema.ts';
import { findClosest } from './suggestion.ts';

const PREFIX = 'SALLYPORT_';
/** Variables of commands, which no setting has. */
const OF_COMMANDS: readonly string[] = [
  'SALLYPORT_CONFIG',
  'SALLYPORT_IDP_ADMIN_CLIENT_SECRET',
  'SALLYPORT_IDP_ADMIN_PASSWORD',
  'SALLYPORT_PROFILE',
  'SALLYPORT_TOKEN_STORE',
];
/**
 * What Kubernetes sets in every pod beside a Service named `sallyport` or `sallyport-…`.
 *
 * @see [Kubernetes: environment variables of Services](https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables)
 */
const OF_A_SERVICE =
  /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/;
const ADDRESS_OF_A_SERVICE = /^(?:tcp|udp|sctp):\/\//;
const SHOWN_MAX_LENGTH = 80;

/** Lists a warning for each variable that is set, begins with `SALLYPORT_` and is not read by any command. */
export function findUnknownVariables(
  env: Readonly<Record<string, string | undefined>>,
): readonly ConfigProblem[] {
  const known = listVariables();
  return Object.entries(env)
    .filter(
      ([name, value = '']) =>
        name.startsWith(PREFIX) &&
        value !== '' &&
        !known.includes(name) &&
        !OF_A_SERVICE.test(name) &&
        !ADDRESS_OF_A_SERVICE.test(value),
    )
    .map(([name]) => toProblem(name, known))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

function listVariables(): readonly string[] {
  const ofSettings = SETTINGS.map(({ setting }) => setting.variable).filter(
    (variable) => variable !== undefined,
  );
  return [...new Set([...ofSettings, ...OF_COMMANDS])];
}

function toProblem(name: string, known: readonly string[]): ConfigProblem {
  const similar = findClosest(name, known);
  return {
    file: 'environment',
    line: undefined,
    key: withoutUnprintable(name.slice(0, SHOWN_MAX_LENGTH)),
    found: 'a variable that nothing reads',
    expected:
      similar === undefined
        ? 'a variable of docs/configuration.md'
        : `${similar} (did you mean that?)`,
  };
}
