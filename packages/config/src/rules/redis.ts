/**
 * The session store in Redis: what each layout needs, and a password on a wire that can be read.
 *
 * @module
 */

import { describeFound } from '../problems.ts';
import type { RedisConfig } from '../redis-config.ts';
import type { Finding, Rule } from './rule.ts';

const BLOCK = 'session.redis';
const STORE = 'session.store';
/** Hosts that do not leave the machine. */
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\]):\d+$/;

/** What a layout cannot do without, and what it does not have. */
export const REDIS_MODE_RULE: Rule = {
  keys: [
    STORE,
    ...['mode', 'addresses', 'sentinelMaster', 'database'].map((name) => `${BLOCK}.${name}`),
  ],
  check: ({ config: { session } }) => {
    if (session.store !== 'redis') return [];
    const { mode, addresses, sentinelMaster, database } = session.redis;
    const findings: Finding[] = [];
    if (addresses.length === 0)
      findings.push({
        key: `${BLOCK}.addresses`,
        found: 'nothing',
        expected: 'at least one address, which session.store redis needs',
      });
    if (mode === 'standalone' && addresses.length > 1)
      findings.push({
        key: `${BLOCK}.addresses`,
        found: `${addresses.length} addresses`,
        expected: 'one, or mode sentinel or cluster: a standalone server is one server',
      });
    if (mode === 'sentinel' && sentinelMaster === '')
      findings.push({
        key: `${BLOCK}.sentinelMaster`,
        found: 'nothing',
        expected: "the master's name, which mode sentinel needs",
      });
    if (mode === 'cluster' && database !== 0)
      findings.push({
        key: `${BLOCK}.database`,
        found: String(database),
        expected: '0: a cluster has no other database',
      });
    return findings;
  },
};

/** Credentials come whole, and not in the clear over a network. */
export const REDIS_CREDENTIAL_RULE: Rule = {
  keys: [
    STORE,
    ...['addresses', 'username', 'passwordLocation', 'tls.enabled'].map(
      (name) => `${BLOCK}.${name}`,
    ),
  ],
  check: ({ config: { session } }) => {
    if (session.store !== 'redis') return [];
    const { addresses, username, passwordLocation, tls } = session.redis;
    const findings: Finding[] = [];
    if (username !== '' && passwordLocation === '')
      findings.push({
        key: `${BLOCK}.passwordLocation`,
        found: 'nothing',
        expected: "a file that holds the user's password, which username needs",
      });
    const isReadable = addresses.some((address) => !LOOPBACK.test(address));
    if (passwordLocation !== '' && !tls.enabled && isReadable)
      findings.push({
        key: `${BLOCK}.tls.enabled`,
        found: 'false',
        expected: 'true: without TLS the password can be read on the network',
        isWarning: true,
      });
    return findings;
  },
};

/** Files of TLS are used with TLS, and a certificate with its key. */
export const REDIS_TLS_RULE: Rule = {
  keys: [STORE, ...tlsKeys(['enabled', 'caFile', 'certFile', 'keyFile', 'serverName'])],
  check: ({ config: { session } }) => {
    if (session.store !== 'redis') return [];
    const { tls } = session.redis;
    return [...findUnused(tls), ...findHalf(tls)];
  },
};

function findUnused(tls: RedisConfig['tls']): readonly Finding[] {
  const given = (['caFile', 'certFile', 'keyFile', 'serverName'] as const).find(
    (name) => tls[name] !== '',
  );
  return tls.enabled || given === undefined
    ? []
    : [
        {
          key: `${BLOCK}.tls.enabled`,
          found: describeFound(false),
          expected: `true, or no session.redis.tls.${given}`,
        },
      ];
}

function findHalf({ certFile, keyFile }: RedisConfig['tls']): readonly Finding[] {
  if ((certFile === '') === (keyFile === '')) return [];
  const [missing, other] = certFile === '' ? ['certFile', 'keyFile'] : ['keyFile', 'certFile'];
  return [
    {
      key: `${BLOCK}.tls.${missing}`,
      found: 'nothing',
      expected: `a file, which session.redis.tls.${other} needs`,
    },
  ];
}

function tlsKeys(names: readonly string[]): readonly string[] {
  return names.map((name) => `${BLOCK}.tls.${name}`);
}
