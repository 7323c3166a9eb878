/**
 * Header names that have to agree, or must not.
 *
 * @module
 */

import { canonicalHeaderName } from '@sallyport/protocol';
import type { Config } from '../config.ts';
import { describeFound } from '../problems.ts';
import type { Rule } from './rule.ts';

const HTTP_HEADER = 'auth.httpAuthorizationHeader';
const GRPC_HEADER = 'auth.grpcAuthorizationHeader';
const ONLY_CONFIGURED = 'bearer.onlyConfiguredHeader';

/** Requirement, "Bearer header", rule 2: the admin service reads the header its clients send. */
function clientHeaderRule(key: string, select: (config: Config) => string): Rule {
  return {
    keys: [key, GRPC_HEADER, ONLY_CONFIGURED],
    check: ({ config }) => {
      const read = config.auth.grpcAuthorizationHeader;
      const isRead = (name: string): boolean =>
        name === read || (name === 'authorization' && !config.bearer.onlyConfiguredHeader);
      return isRead(select(config))
        ? []
        : [
            {
              key,
              found: describeFound(select(config)),
              expected: `${read}, the header of ${GRPC_HEADER}`,
            },
          ];
    },
  };
}

/** The header of `union.auth` is one the admin service reads. */
export const SERVICE_HEADER_RULE: Rule = clientHeaderRule(
  'union.auth.authorizationMetadataKey',
  (config) => config.union.auth.authorizationMetadataKey,
);

/** The header of the executions service is one the admin service reads. */
export const EXECUTIONS_HEADER_RULE: Rule = clientHeaderRule(
  'executions.app.adminClient.connection.authorizationHeader',
  (config) => config.executions.app.adminClient.connection.authorizationHeader,
);

/** A bearer header is forwarded or removed by the route group alone. */
export const STRIPPED_BEARER_RULE: Rule = {
  keys: ['stripHeaders', HTTP_HEADER, GRPC_HEADER],
  check: ({ config }) => {
    const { httpAuthorizationHeader, grpcAuthorizationHeader } = config.auth;
    const bearer = new Set(['authorization', httpAuthorizationHeader, grpcAuthorizationHeader]);
    return config.stripHeaders.flatMap((name, index) =>
      bearer.has(name)
        ? [
            {
              key: `stripHeaders[${index}]`,
              found: describeFound(name),
              expected: 'no bearer header: whether a backend receives it is decided by its route',
            },
          ]
        : [],
    );
  },
};

/** Two claims must not travel in one header: a backend would take one for the other. */
export const CLAIM_HEADERS_RULE: Rule = {
  keys: ['claimHeaders'],
  check: ({ config }) => {
    const claimByHeader = new Map<string, string>();
    return config.claimHeaders.flatMap((claim, index) => {
      const header = canonicalHeaderName(claim).replaceAll(/[^a-z0-9-]/g, '-');
      const first = claimByHeader.get(header);
      claimByHeader.set(header, first ?? claim);
      return first === undefined
        ? []
        : [
            {
              key: `claimHeaders[${index}]`,
              found: describeFound(claim),
              expected: `a claim whose header differs from that of ${describeFound(first)}`,
            },
          ];
    });
  },
};
