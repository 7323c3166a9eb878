/**
 * The service app's settings: the requirement's "Errors" table, as far as a file can show it.
 *
 * @module
 */

import type { Config } from '../config.ts';
import { describeFound } from '../problems.ts';
import type { Rule, Finding as RuleFinding } from './rule.ts';

const DATA_PLANE = 'secrets.admin.clientId';
const CONTROL_PLANE = 'union.auth.clientId';

/** Completes what is expected of two client ids that differ. */
export const MEANT_SO = 'unless auth.separateServiceApps: true says that they are two service apps';

/**
 * Requirement, "Errors": operator or propeller cannot authenticate when the two differ; and "IdP
 * applications": a service app for each component is allowed, so that it is a warning.
 */
export const SAME_CLIENT_RULE: Rule = {
  keys: [DATA_PLANE, CONTROL_PLANE, 'auth.separateServiceApps'],
  check: ({ config }) => {
    const dataPlane = config.secrets.admin.clientId;
    const controlPlane = config.union.auth.clientId;
    const isOne = dataPlane === '' || controlPlane === '' || dataPlane === controlPlane;
    return isOne || config.auth.separateServiceApps
      ? []
      : [
          {
            key: DATA_PLANE,
            found: describeFound(dataPlane),
            expected: `${describeFound(controlPlane)} as in ${CONTROL_PLANE} (AUTH_CLIENT_ID equals INTERNAL_CLIENT_ID), ${MEANT_SO}`,
            isWarning: true,
          },
        ];
  },
};

/** A client that proves itself by a secret has a client ID. */
export const CLIENT_SECRET_RULE: Rule = {
  keys: ['admin.authType', 'admin.clientId'],
  check: ({ config, originOf }) =>
    config.admin.authType === 'ClientSecret' &&
    config.admin.clientId === '' &&
    originOf('admin.authType') !== 'default'
      ? [
          {
            key: 'admin.clientId',
            found: 'nothing',
            expected: 'a client ID, which authType ClientSecret needs',
          },
        ]
      : [],
};

/** A secret that is to be created needs something in it. */
export const STAND_IN_RULE: Rule = {
  keys: ['secrets.admin.create', 'secrets.admin.clientSecret'],
  check: ({ config }) =>
    config.secrets.admin.create && !config.secrets.admin.clientSecret.isPresent
      ? [
          {
            key: 'secrets.admin.clientSecret',
            found: 'nothing',
            expected: 'a stand-in value, which create: true needs',
          },
        ]
      : [],
};

/** Services authenticate, and the control plane does not: the cell of the matrix that contradicts itself. */
export const NOTHING_TO_ENTER = {
  key: 'server.security.useAuth',
  found: 'false',
  expected:
    'true, as union.auth.enable is: without it no token is checked, no metadata served, and protected routes stay closed',
} as const;

/** A switch that is on by default, and what fails without it. */
interface Switch {
  readonly key: string;
  readonly isOn: (config: Pick<Config, 'secrets' | 'unionAuth'>) => boolean;
  readonly effect: string;
}

const SECRET_SWITCHES: readonly Switch[] = [
  {
    key: 'secrets.admin.enable',
    isOn: ({ secrets }) => secrets.admin.enable,
    effect: 'operator and propeller cannot authenticate',
  },
  {
    key: 'secrets.adminOauthClientCredentials.enabled',
    isOn: ({ secrets }) => secrets.adminOauthClientCredentials.enabled,
    effect: 'the scheduler fails to start',
  },
];

/** Switches of the files of services beside their blocks. */
const CLIENT_SWITCHES: readonly Switch[] = [
  ...SECRET_SWITCHES,
  {
    key: 'unionAuth.injectSecret',
    isOn: ({ unionAuth }) => unionAuth.injectSecret,
    effect: 'task pods receive no API key, and end at once unless they are given one otherwise',
  },
];

/** What a service's file switches off, beside `enable` of its own block. */
export function findSwitchedOff(
  config: Pick<Config, 'secrets' | 'unionAuth'>,
): readonly RuleFinding[] {
  return CLIENT_SWITCHES.filter(({ isOn }) => !isOn(config)).map(toSwitchedOff);
}

function toSwitchedOff({ key, effect }: Pick<Switch, 'key' | 'effect'>): RuleFinding {
  return { key, found: 'false', expected: `true: without it ${effect}`, isWarning: true };
}

/** Requirement, "Errors": what is switched off makes services fail later; said at once. */
export const SWITCHED_OFF_RULE: Rule = {
  keys: ['server.security.useAuth', 'union.auth.enable', ...SECRET_SWITCHES.map(({ key }) => key)],
  check: ({ config, originOf }) => {
    if (!config.server.security.useAuth)
      return config.union.auth.enable && originOf('union.auth.enable') !== 'default'
        ? [{ ...NOTHING_TO_ENTER, isWarning: true as const }]
        : [];
    const services = { key: 'union.auth.enable', effect: 'internal services receive 401' };
    return [
      ...(config.union.auth.enable ? [] : [toSwitchedOff(services)]),
      ...SECRET_SWITCHES.filter(({ isOn }) => !isOn(config)).map(toSwitchedOff),
    ];
  },
};
