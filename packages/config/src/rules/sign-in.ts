/**
 * Lifetimes, redirect targets and proxies.
 *
 * @module
 */

import { formatDuration, parseRedirectTarget } from '@sallyport/protocol';
import { describeFound } from '../problems.ts';
import type { Rule } from './rule.ts';

const REDIRECT_URL = 'auth.userAuth.redirectUrl';

/** An idle timeout longer than the whole life would never take effect. */
export const LIFETIME_RULE: Rule = {
  keys: ['session.idleTimeout', 'session.withoutRefreshTokenIdle', 'session.absoluteLifetime'],
  check: ({ config: { session } }) => {
    const longest = formatDuration(session.absoluteLifetimeMs);
    return [
      { key: 'session.idleTimeout', ms: session.idleTimeoutMs },
      { key: 'session.withoutRefreshTokenIdle', ms: session.withoutRefreshTokenIdleMs },
    ]
      .filter(({ ms }) => ms > session.absoluteLifetimeMs)
      .map(({ key, ms }) => ({
        key,
        found: describeFound(formatDuration(ms)),
        expected: `at most session.absoluteLifetime, ${longest}`,
      }));
  },
};

/** The landing page is a place a sign-in may end on. */
export const REDIRECT_URL_RULE: Rule = {
  keys: [REDIRECT_URL, 'publicUrl', 'redirectOrigins'],
  check: ({ config }) => {
    const target = parseRedirectTarget(config.auth.userAuth.redirectUrl, {
      publicOrigin: config.publicUrl,
      redirectOrigins: new Set(config.redirectOrigins),
    });
    return target.ok
      ? []
      : [
          {
            key: REDIRECT_URL,
            found: describeFound(config.auth.userAuth.redirectUrl),
            expected:
              'a path that begins with one /, or a URL of publicUrl or redirectOrigins, and none of the endpoints of a sign-in',
          },
        ];
  },
};

/** The peer of a Unix socket has no address, and neither has one of TCP that has gone meanwhile. */
export const UNIX_PROXY_RULE: Rule = {
  keys: ['trustedProxies', 'server.listen'],
  check: ({ config }) =>
    config.server.listen !== ''
      ? []
      : config.trustedProxies.flatMap((proxy, index) =>
          proxy === 'unix'
            ? [
                {
                  key: `trustedProxies[${index}]`,
                  found: describeFound(proxy),
                  expected: 'server.listen beside it: there is no Unix socket to come by',
                },
              ]
            : [],
        ),
};

/** Every peer of the socket is trusted: with this mode every user of the machine chooses the address of a client. */
export const SOCKET_MODE_RULE: Rule = {
  keys: ['trustedProxies', 'server.listen', 'server.socketMode'],
  check: ({ config: { server, trustedProxies } }) =>
    server.listen !== '' && server.socketMode === '0666' && trustedProxies.includes('unix')
      ? [
          {
            key: 'server.socketMode',
            found: describeFound(server.socketMode),
            expected:
              '"0660" with server.socketGroup, where trustedProxies has unix: every user of this machine may connect and is believed',
            isWarning: true as const,
          },
        ]
      : [],
};

/** Believing every address means that a client chooses the address it is counted by. */
export const TRUSTED_PROXIES_RULE: Rule = {
  keys: ['trustedProxies'],
  check: ({ config }) =>
    config.trustedProxies.flatMap((range, index) =>
      /\/0+$/.test(range)
        ? [
            {
              key: `trustedProxies[${index}]`,
              found: describeFound(range),
              expected: 'the addresses of your proxies: this range believes every client',
              isWarning: true as const,
            },
          ]
        : [],
    ),
};
