/**
 * Schema of Sallyport's own keys, and of `server`.
 *
 * @module
 */

import type { Config } from '../config.ts';
import { booleanKind, enumKind, integerKind, listKind, shareKind } from '../kinds/kind.ts';
import {
  domainKind,
  groupKind,
  listenHostKind,
  strippedHeaderKind,
  trustedProxyKind,
  unixSocketKind,
} from '../kinds/name.ts';
import {
  claimNameKind,
  clientIdKind,
  durationKind,
  orEmpty,
  pathKind,
  textKind,
} from '../kinds/text.ts';
import { originKind, plainHttpOriginKind } from '../kinds/url.ts';
import { WORKERS_MAX, workerCountKind } from '../kinds/worker-count.ts';
import { BEARER_SCHEMA } from './bearer.ts';
import { METRICS_SCHEMA } from './metrics.ts';
import { REDIS_SCHEMA } from './redis.ts';
import type { SchemaOf } from './setting.ts';
import { TRACES_SCHEMA } from './traces.ts';

const SHORTEST = '1m';
const LONGEST = '365d';

/** Schema of Sallyport's own keys, and of `server`. */
export const SALLYPORT_SCHEMA: SchemaOf<
  Omit<Config, 'admin' | 'auth' | 'executions' | 'secrets' | 'union' | 'unionAuth'>
> = {
  publicUrl: {
    kind: originKind,
    fallback: '',
    required: 'always',
    variable: 'PUBLIC_URL',
    meaning:
      'Origin under which browsers reach the platform. Never taken from a request: it decides the redirect URI, the cookie prefix and the audience of tokens. Plain http only on `localhost`, `127.0.0.1` and `[::1]`.',
  },
  server: {
    listen: {
      kind: orEmpty(unixSocketKind),
      fallback: '',
      variable: 'SALLYPORT_LISTEN',
      meaning:
        'A Unix socket to listen on in place of `listen.host` and `listen.port`, such as `unix:/run/sallyport/sallyport.sock`, for an nginx on the same machine: name it in `trustedProxies` as `unix`. The folder must exist, and no other user may write to it. A socket without a listener is replaced, one on which a process answers is not; see [operation](operation.md#a-unix-socket).',
    },
    socketMode: {
      kind: enumKind(['0600', '0660', '0666']),
      fallback: '0660',
      variable: 'SALLYPORT_SOCKET_MODE',
      meaning:
        'Permissions of that socket, in quotes. Every process that may write to it can connect, and is trusted if `trustedProxies` has `unix`: with `0666` that is every user of the machine.',
    },
    socketGroup: {
      kind: orEmpty(groupKind),
      fallback: '',
      variable: 'SALLYPORT_SOCKET_GROUP',
      meaning:
        "Group of that socket, by name or number: the one that nginx' workers are in. The user of this process has to be a member of it. Without one it is the group of the process.",
    },
    workers: {
      kind: workerCountKind(WORKERS_MAX),
      fallback: 1,
      variable: 'SALLYPORT_WORKERS',
      meaning:
        'Processes that answer requests, on one port and with the same sessions; `auto` is one for each processor this process may use, a CPU limit of its container counted. With more than one, a further process starts them, replaces one that ended, and answers nothing itself.',
    },
    drainDelay: {
      kind: durationKind('0s', '10m'),
      fallback: 0,
      variable: 'SALLYPORT_DRAIN_DELAY',
      meaning:
        'For so long after SIGTERM connections are still taken and answered as before, while `/readyz` already says 503: the time that load balancers need to notice. `5s` suits most of them; see [operation](operation.md).',
    },
    security: {
      useAuth: {
        kind: booleanKind,
        fallback: true,
        meaning:
          'Registers `/login`, `/callback`, `/me` and `/logout`. With `false` none of them exists and protected routes stay closed.',
      },
    },
  },
  listen: {
    host: {
      kind: listenHostKind,
      fallback: '127.0.0.1',
      variable: 'SALLYPORT_LISTEN_HOST',
      meaning:
        'Address to listen on. The default is reachable from the same machine or pod only; `0.0.0.0` or `::` listens everywhere.',
    },
    port: {
      kind: integerKind(0, 65_535),
      fallback: 8080,
      variable: 'SALLYPORT_LISTEN_PORT',
      meaning: 'Port to listen on; 0 lets the system choose.',
    },
  },
  stateDirectory: {
    kind: pathKind,
    fallback: '/var/lib/sallyport',
    variable: 'SALLYPORT_STATE_DIRECTORY',
    meaning: 'Directory of the session store and the key ring. Must be kept across restarts.',
  },
  redirectOrigins: {
    kind: listKind(originKind, 'origins'),
    fallback: [],
    meaning: 'Further origins a sign-in or sign-out may end on, beside `publicUrl`.',
  },
  trustedProxies: {
    kind: listKind(trustedProxyKind, 'IP addresses and ranges'),
    fallback: [],
    meaning:
      'Proxies whose forwarded headers are trusted; `unix` is every process that connects to the socket of `server.listen`. Without any, forwarded headers have no effect, and `rateLimit` cannot distinguish clients by address: all may come through the same proxy.',
  },
  dangerouslyAllowPlainHttpTo: {
    kind: listKind(plainHttpOriginKind, 'origins'),
    fallback: [],
    variable: 'SALLYPORT_DANGEROUSLY_ALLOW_PLAIN_HTTP_TO',
    meaning:
      'Origins at which an identity provider may be reached by plain http beyond `localhost`, `127.0.0.1` and `[::1]`, such as `http://keycloak.identity.svc.cluster.local:8080`: its issuer, metadata, keys, token and introspection endpoints. An attacker on the network path can read tokens and secrets, and sign in as any person; each issuer gives a warning at each start. Also read by clients.',
  },
  session: {
    store: {
      kind: enumKind(['local', 'redis']),
      fallback: 'local',
      meaning:
        'Where sessions are kept. `local`: a database file in `stateDirectory`, for one machine. `redis`: a Redis deployment that several replicas share, see `session.redis`.',
    },
    idleTimeout: {
      kind: durationKind(SHORTEST, LONGEST),
      fallback: 12 * 3_600_000,
      meaning: 'A session ends when it was not used for this long.',
    },
    absoluteLifetime: {
      kind: durationKind(SHORTEST, LONGEST),
      fallback: 7 * 86_400_000,
      meaning: 'A session ends this long after the sign-in, used or not.',
    },
    withoutRefreshTokenIdle: {
      kind: durationKind(SHORTEST, LONGEST),
      fallback: 3_600_000,
      meaning:
        'The idle timeout of a session for which the identity provider gave no refresh token.',
    },
    revalidateAfter: {
      kind: durationKind(SHORTEST, LONGEST),
      fallback: 600_000,
      meaning:
        'Within this time, and at most the life of its access token, the identity provider is asked again whether a session may continue. A person who lost access there loses it here after it.',
    },
    renewalGrace: {
      kind: durationKind(SHORTEST, LONGEST),
      fallback: 300_000,
      meaning:
        'For so long beyond `revalidateAfter` sessions count while the identity provider does not answer. After that they are undecided (503), and not signed out.',
    },
    renewalsPerSecond: {
      kind: integerKind(1, 1_000),
      fallback: 20,
      meaning:
        'How many renewals a second one process asks the identity provider for, on average. What exceeds it waits, or is spread.',
    },
    keyRingFile: {
      kind: pathKind,
      fallback: '',
      fallbackFrom: {
        key: 'stateDirectory',
        text: '`key-ring.json` in `stateDirectory`',
        derive: (directory) => `${directory.replace(/\/+$/, '')}/key-ring.json`,
      },
      meaning: 'File of the keys that seal sessions. Read again when it changes.',
    },
    redis: REDIS_SCHEMA,
  },
  bearer: BEARER_SCHEMA,
  access: {
    tenants: {
      kind: listKind(textKind({ name: 'string', expected: 'a tenant' }), 'tenants'),
      fallback: [],
      meaning: 'Tenants that may enter, people and applications; empty admits every tenant.',
    },
    groups: {
      kind: listKind(textKind({ name: 'string', expected: 'a group' }), 'groups'),
      fallback: [],
      meaning:
        'Groups whose members may enter; empty asks for no group. Applications are in no group: with this set, they enter by `access.clientIds` alone.',
    },
    emailDomains: {
      kind: listKind(domainKind, 'domains'),
      fallback: [],
      meaning:
        'Domains of verified e-mail addresses that may enter; empty admits every address. Applications have none: with this set, they enter by `access.clientIds` alone.',
    },
    clientIds: {
      kind: listKind(clientIdKind, 'client IDs'),
      fallback: [],
      meaning:
        'Applications that may enter, by the client ID of their tokens; empty admits every one, unless `access.groups` or `access.emailDomains` is set. Does not concern people. An application is recognized by its token: the client is the subject (RFC 9068), or `service-account-<client>` the user name (Keycloak), or `idtyp` says `app` or `oid` is the subject without `scp` (Entra), or `gty` says `client-credentials` (Auth0).',
    },
    tenantClaim: {
      kind: claimNameKind,
      fallback: 'tid',
      meaning: 'Claim that names the tenant: `tid` at Entra, `hd` at Google.',
    },
    groupsClaim: {
      kind: claimNameKind,
      fallback: 'groups',
      meaning: 'Claim that lists the groups.',
    },
  },
  emailTrusted: {
    kind: booleanKind,
    fallback: false,
    meaning:
      'Believes e-mail addresses that come without `email_verified`. Only for an identity provider that hands out addresses itself.',
  },
  claimHeaders: {
    kind: listKind(claimNameKind, 'names of claims'),
    fallback: [],
    meaning:
      'Claims to send to backends, each as `X-User-Claim-<name>`: `tenant_id` as `X-User-Claim-Tenant-Id`.',
  },
  stripHeaders: {
    kind: listKind(strippedHeaderKind, 'header names'),
    fallback: [],
    meaning:
      'Headers to remove before a backend sees them, beside `X-User-*`, `X-Amzn-Oidc-*` and hop-by-hop headers, which are removed always.',
  },
  doors: {
    me: {
      verdictCache: {
        kind: durationKind('0s', '5s', '0s, or 2s to 5s: nginx counts whole seconds'),
        fallback: 0,
        meaning:
          'How long nginx may keep an admission that `/me` gave; `0s` is not at all, else at least `2s`. For so long a session that has ended is still admitted, to read only. Works with the recipe in `deploy/nginx`, made with `--verdict-cache`, and with no other proxy.',
      },
    },
  },
  observe: {
    logLevel: {
      kind: enumKind(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
      fallback: 'info',
      variable: 'SALLYPORT_LOG_LEVEL',
      meaning: 'Least severe log entry that is written.',
    },
    sampleSuccesses: {
      kind: shareKind,
      fallback: 0,
      variable: 'SALLYPORT_SAMPLE_SUCCESSES',
      meaning:
        'Share of the admitted requests that the log has a line `verdict` of: 0 none, 1 every one. What is refused or undecided is written at `logLevel` `info` in any case, within a bound. See [logs](logs.md).',
    },
    audit: {
      file: {
        kind: orEmpty(pathKind),
        fallback: '',
        variable: 'SALLYPORT_AUDIT_FILE',
        meaning:
          'File that the audit stream is appended to, one JSON object a line, made with mode 0600. It is followed when it is rotated. Empty: the lines go where the log goes. `/dev/stdout` writes them to standard output.',
      },
    },
    metrics: METRICS_SCHEMA,
    traces: TRACES_SCHEMA,
  },
  rateLimit: {
    perMinute: {
      kind: integerKind(1, 100_000),
      fallback: 600,
      meaning:
        'Requests a minute to `/login`, `/callback` and `/logout` from one address (only with `trustedProxies`) and with one session cookie; more are answered with 429. A sign-in takes two; what pages load without a person (images, scripts, fetches, prefetches, frames of other sites) takes none. At `/auth/backchannel-logout` as many from one address that are not valid (only with `trustedProxies`). Each of `server.workers` counts by itself.',
    },
  },
};
