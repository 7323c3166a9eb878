/**
 * The one list of request headers that no client may hand to a backend: the gateway asks it by name, and
 * recipes for proxies that remove by exact name only are written out of it.
 *
 * @module
 */

import {
  CLAIM_HEADER_PREFIX,
  canonicalHeaderName,
  DEFAULT_AUTHORIZATION_HEADER,
  HOP_BY_HOP_HEADERS,
  IDENTITY_HEADERS,
  VERDICT_KEY_HEADER,
} from './header-names.ts';

/**
 * Under these, gateways hand on what they do not hand on under its own name: grpc-gateway makes metadata
 * `x-user-subject` of `Grpc-Metadata-X-User-Subject`, and gives `Cookie` to its backend as
 * `grpcgateway-cookie`, which a client could send itself.
 *
 * @see [grpc-gateway: customizing](https://grpc-ecosystem.github.io/grpc-gateway/docs/mapping/customizing_your_gateway/)
 *   `MetadataHeaderPrefix`, `MetadataPrefix`
 */
const CARRIER_PREFIXES = ['grpc-metadata-', 'grpcgateway-'] as const;

/** Says who the caller is, to some backend; the last two as grpc-gateway's annotations do. */
const IDENTITY_NAMES: readonly string[] = [
  ...Object.values(IDENTITY_HEADERS),
  `${CLAIM_HEADER_PREFIX}groups`,
  `${CLAIM_HEADER_PREFIX}identitytype`,
  `${CLAIM_HEADER_PREFIX}tenant-id`,
  'x-user-token',
  'x-amzn-oidc-accesstoken',
  'x-amzn-oidc-data',
  'x-amzn-oidc-identity',
  'x-auth-request-access-token',
  'x-auth-request-email',
  'x-auth-request-groups',
  'x-auth-request-preferred-username',
  'x-auth-request-user',
  'x-forwarded-access-token',
  'x-forwarded-client-cert',
  'x-forwarded-email',
  'x-forwarded-groups',
  'x-forwarded-preferred-username',
  'x-forwarded-user',
  'userinfo-bin',
  'from-http',
];

/** Says by which way a request came, or makes a backend act on another method or path than was judged. */
const ROUTE_NAMES: readonly string[] = [
  'forwarded',
  'front-end-https',
  'proxy',
  'true-client-ip',
  'x-auth-request-redirect',
  'x-client-ip',
  'x-envoy-original-path',
  'x-forwarded',
  'x-forwarded-by',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-method',
  'x-forwarded-path',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-forwarded-proto',
  'x-forwarded-protocol',
  'x-forwarded-scheme',
  'x-forwarded-server',
  'x-forwarded-ssl',
  'x-forwarded-uri',
  'x-forwarded-url',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-forwarded-for',
  'x-original-host',
  'x-original-method',
  'x-original-path',
  'x-original-uri',
  'x-original-url',
  'x-real-ip',
  'x-rewrite-url',
  'x-scheme',
  'x-sent-from',
  'x-url-scheme',
  VERDICT_KEY_HEADER,
];

/**
 * Name prefixes of which every member goes. A proxy that cannot remove by prefix removes the members
 * above, and lets others pass.
 */
const REMOVED_PREFIXES: readonly string[] = [
  'x-user-',
  'x-amzn-oidc-',
  'x-auth-request-',
  'x-envoy-original-',
  'x-forwarded-',
  'x-original-',
];

/** Credentials that a client may send by these names only: the check does not read them behind a carrier's prefix. */
const JUDGED_NAMES: readonly string[] = [DEFAULT_AUTHORIZATION_HEADER, 'authorization', 'cookie'];

/** Framing of a message. Another spelling of such a name is removed, because a backend may read it as this one. */
const FRAMING_NAMES: ReadonlySet<string> = new Set([...HOP_BY_HOP_HEADERS, 'content-length']);

const REMOVED_NAMES: ReadonlySet<string> = new Set([...IDENTITY_NAMES, ...ROUTE_NAMES]);
const CARRIED_NAMES: ReadonlySet<string> = new Set([...JUDGED_NAMES, ...FRAMING_NAMES, 'host']);

/** The list for a proxy that removes by exact name only, in lower case. */
export interface RemovedHeaders {
  /** Under their own names: identity, way, and hop-by-hop names. */
  readonly plain: readonly string[];
  /** The names above and all credentials, behind the prefixes that turn into headers. */
  readonly carried: readonly string[];
  /** Of {@link RemovedHeaders.carried} the credentials, as grpc-gateway gives them to a gRPC backend. */
  readonly carriedCredentials: readonly string[];
}

/**
 * Whether a header that a client sent never reaches a backend, whatever the route: in any spelling, and
 * behind any number of {@link CARRIER_PREFIXES}.
 *
 * Does not know names of an installation, its bearer headers and `stripHeaders`: those are compared by
 * {@link carriedHeaderName}. The hop-by-hop fields themselves are `selectEndToEndHeaders`' to take out.
 *
 * @param name - Untrusted.
 */
export function isRemovedHeader(name: string): boolean {
  const canonical = canonicalHeaderName(name);
  const carried = withoutCarriers(canonical);
  if (REMOVED_NAMES.has(carried)) return true;
  if (REMOVED_PREFIXES.some((prefix) => carried.startsWith(prefix))) return true;
  if (carried !== canonical) return CARRIED_NAMES.has(carried);
  return FRAMING_NAMES.has(canonical) && name.toLowerCase() !== canonical;
}

/** The canonical name of a header, less the prefixes that gateways take away before they hand it on. */
export function carriedHeaderName(name: string): string {
  return withoutCarriers(canonicalHeaderName(name));
}

/**
 * Lists the names for a proxy that removes by exact name only. What it does not name is what remains to
 * a client there: other members of {@link REMOVED_PREFIXES}, and prefixes stacked otherwise.
 *
 * @param own - Further names of an installation: claim headers, bearer headers, `stripHeaders`. Behind a
 *   carrier's prefix only; plain, whether they go is the route's to say. Lower case.
 */
export function listRemovedHeaders(own: readonly string[] = []): RemovedHeaders {
  const hop = [...HOP_BY_HOP_HEADERS].filter((name) => !PROXY_OWN_NAMES.has(name));
  const plain = [...REMOVED_NAMES, ...hop].toSorted();
  const credentials = [...new Set([...JUDGED_NAMES, ...own])].toSorted();
  const behind = [...new Set([...plain, ...credentials, 'host'])].toSorted();
  return {
    plain,
    carried: [
      ...CARRIER_PREFIXES.flatMap((carrier) => behind.map((name) => carrier + name)),
      // Only what stands under its own name in HTTP does grpc-gateway hand on behind the second one.
      ...[...credentials, 'host'].map((name) => CARRIER_PREFIXES.join('') + name),
    ],
    carriedCredentials: credentials.map((name) => CARRIER_PREFIXES[1] + name),
  };
}

/** Every proxy takes these out, or states them, by itself. */
const PROXY_OWN_NAMES: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'transfer-encoding',
  'upgrade',
]);

function withoutCarriers(canonical: string): string {
  let name = canonical;
  for (;;) {
    const carrier = CARRIER_PREFIXES.find((prefix) => name.startsWith(prefix));
    if (carrier === undefined) return name;
    name = name.slice(carrier.length);
  }
}
