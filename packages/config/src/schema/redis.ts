/**
 * Schema of `session.redis.*`: the session store that several replicas share.
 *
 * @module
 */

import { booleanKind, enumKind, integerKind, listKind } from '../kinds/kind.ts';
import { serverAddressKind } from '../kinds/name.ts';
import { durationKind, orEmpty, pathKind, patternKind, textKind } from '../kinds/text.ts';
import type { RedisConfig } from '../redis-config.ts';
import type { SchemaOf } from './setting.ts';

/** Schema of `session.redis`. */
export const REDIS_SCHEMA: SchemaOf<RedisConfig> = {
  mode: {
    kind: enumKind(['standalone', 'sentinel', 'cluster']),
    fallback: 'standalone',
    meaning: 'How the Redis servers are laid out. See [redis.md](redis.md).',
  },
  addresses: {
    kind: listKind(serverAddressKind, 'addresses, each host:port'),
    fallback: [],
    meaning:
      'Needed with `session.store: redis`: the server; with `sentinel` the sentinels; with `cluster` some of its servers, from which the others are learnt.',
  },
  sentinelMaster: {
    kind: orEmpty(
      patternKind(
        'string',
        'the name of a master, as sentinels know it',
        /^[A-Za-z0-9._-]{1,128}$/,
      ),
    ),
    fallback: '',
    meaning: "The master's name at the sentinels. Needed with `mode: sentinel`.",
  },
  username: {
    kind: orEmpty(textKind({ name: 'string', expected: 'the name of a Redis user' })),
    fallback: '',
    meaning: "User of Redis' access control list; empty for the default user.",
  },
  passwordLocation: {
    kind: orEmpty(pathKind),
    fallback: '',
    meaning: "File that holds that user's password. Read again for every connection.",
  },
  sentinelPasswordLocation: {
    kind: orEmpty(pathKind),
    fallback: '',
    meaning: 'File that holds the password of the sentinels themselves, if they ask for one.',
  },
  tls: {
    enabled: {
      kind: booleanKind,
      fallback: false,
      meaning: 'Connects by TLS, to sentinels too.',
    },
    caFile: {
      kind: orEmpty(pathKind),
      fallback: '',
      meaning:
        "PEM file of the authorities to believe instead of the system's. This and the other files are read again for every connection.",
    },
    certFile: {
      kind: orEmpty(pathKind),
      fallback: '',
      meaning: 'PEM file of our own certificate, for servers that ask for one.',
    },
    keyFile: {
      kind: orEmpty(pathKind),
      fallback: '',
      meaning: 'PEM file of its private key.',
    },
    serverName: {
      kind: orEmpty(
        patternKind('string', 'a host name', /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/),
      ),
      fallback: '',
      meaning:
        "The name in the servers' certificates, if they are reached by another one or by IP address, which sentinels and clusters usually return.",
    },
  },
  database: {
    kind: integerKind(0, 9_999),
    fallback: 0,
    meaning: 'Number of the database. A cluster has only 0.',
  },
  keyPrefix: {
    kind: patternKind('string', 'letters, digits and . _ : -', /^[A-Za-z0-9._:-]{1,64}$/),
    fallback: 'sallyport',
    meaning: 'What all keys begin with, in braces. Deployments that share a server differ in it.',
  },
  replicas: {
    kind: integerKind(0, 16),
    fallback: 0,
    fallbackFrom: {
      key: 'session.redis.mode',
      text: '0 with `standalone`, else 1',
      derive: (mode) => (mode === 'standalone' ? 0 : 1),
    },
    meaning:
      'How many replicas must have the end of a session before a sign-out or revocation counts; with fewer it is answered 503. 0 loses what a master took with it.',
  },
  commandTimeout: {
    kind: durationKind('100ms', '10s'),
    fallback: 1_000,
    meaning: 'How long a command may take before the store counts as unavailable.',
  },
  allowWithoutAppendOnlyFile: {
    kind: booleanKind,
    fallback: false,
    meaning:
      'Uses a server that keeps no append-only file. Weakens: such a server, restarted from a snapshot, may bring back sessions that were ended since. Gives a warning at start.',
  },
};
