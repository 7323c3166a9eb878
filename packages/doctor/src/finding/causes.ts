/**
 * Every cause that the doctor names. docs/doctor.md is made from it.
 *
 * @module
 */

import type { ProbeGroup } from '../graph/probe.ts';

/** What a cause is, whatever values are at fault. */
export interface Cause {
  /** Where it is found. */
  readonly group: ProbeGroup;
  /** What one sees when it is there. */
  readonly seen: string;
  /** How the doctor finds it. */
  readonly found: string;
  /** What to do. */
  readonly cure: string;
}

const TABLE = {
  name_unknown: {
    group: 'dns',
    seen: 'No connection; "there is no such name".',
    found: 'Looks the name up as every program of this machine or pod does.',
    cure: 'Correct the address, or the DNS that is asked from here.',
  },
  connection_refused: {
    group: 'tcp',
    seen: 'No connection; "nothing listens there".',
    found: 'Connects to each address of the name.',
    cure: 'Start the server, or correct host and port.',
  },
  no_route: {
    group: 'tcp',
    seen: 'Requests end after a time-out.',
    found: 'Connects to each address of the name, for four seconds each.',
    cure: 'Open the way: firewall, VPN, network policy.',
  },
  certificate_expired: {
    group: 'tls',
    seen: 'Every request fails at TLS.',
    found: 'Begins TLS and reads the certificate.',
    cure: 'Renew the certificate; compare the clocks.',
  },
  certificate_other_name: {
    group: 'tls',
    seen: 'Every request fails at TLS.',
    found: 'Compares the names in the certificate with the host.',
    cure: 'Have it issued for this name.',
  },
  certificate_untrusted: {
    group: 'tls',
    seen: 'Programs fail at TLS; a browser may work.',
    found: 'Verifies the chain against the authorities of this process.',
    cure: '`NODE_EXTRA_CA_CERTS=FILE` for the service, `--ca-file FILE` for commands.',
  },
  certificate_expires_soon: {
    group: 'tls',
    seen: 'Nothing yet.',
    found: 'Reads the date at which the certificate ends: less than 14 days.',
    cure: 'Renew it.',
  },
  not_tls: {
    group: 'tls',
    seen: 'Every request fails at TLS.',
    found: 'Begins TLS on the port.',
    cure: 'Correct scheme and port.',
  },
  no_http_answer: {
    group: 'http',
    seen: 'Requests end after a time-out, or the connection ends.',
    found: 'Sends one request, for five seconds.',
    cure: "Look at the server's log, and at proxies in front of it.",
  },
  idp_fails: {
    group: 'http',
    seen: 'Sign-ins answer 503.',
    found: 'The metadata or the token endpoint is answered with 429 or 5xx.',
    cure: "Look at the identity provider's log.",
  },
  issuer_not_served: {
    group: 'http',
    seen: 'Sign-ins answer 503; the log says `idp_unreachable` or `idp_misbehaving`.',
    found: 'Asks both registered places for metadata.',
    cure: 'Correct `OIDC_BASE_URL`, the path included.',
  },
  issuer_slash: {
    group: 'oidc',
    seen: 'Sign-ins answer 503; bearer tokens are refused with `unknown_issuer`.',
    found: 'Compares the issuer in the metadata with the configured one, character by character.',
    cure: 'Set `OIDC_BASE_URL` to exactly what the metadata has.',
  },
  issuer_differs: {
    group: 'oidc',
    seen: 'Sign-ins answer 503; bearer tokens are refused with `unknown_issuer`.',
    found: 'Compares the issuer in the metadata with the configured one, character by character.',
    cure: 'Set `OIDC_BASE_URL` to exactly what the metadata has.',
  },
  discovery_invalid: {
    group: 'oidc',
    seen: 'Sign-ins answer 503; the log says `idp_misbehaving`.',
    found: 'Reads the metadata by the rules of the service.',
    cure: 'Correct the member that is named, at the identity provider.',
  },
  keys_unusable: {
    group: 'oidc',
    seen: 'Sign-ins fail after the password; bearer tokens are answered 503.',
    found: 'Fetches the key set and looks for a key of an announced algorithm.',
    cure: 'Correct the key set at the identity provider.',
  },
  pkce_not_supported: {
    group: 'oidc',
    seen: 'Sign-ins of the native app fail.',
    found: 'Reads `code_challenge_methods_supported`.',
    cure: 'Switch S256 on at the authorization server.',
  },
  clock_differs: {
    group: 'clocks',
    seen: 'Tokens are refused as not valid yet, or ended.',
    found: 'Compares the `Date` of answers with the time here: 5 s warns, 60 s fails.',
    cure: 'NTP on both machines.',
  },
  routes_not_registered: {
    group: 'gate',
    seen: 'A browser is redirected in a loop; `/login` is unknown.',
    found: '`GET /me` is answered as an unknown path.',
    cure: '`server.security.useAuth: true`, and `/me` routed to the admin service.',
  },
  me_redirects: {
    group: 'gate',
    seen: 'Every protected route answers 500, or loops.',
    found: '`GET /me` is answered with a redirect.',
    cure: 'Take the auth subrequest off the route of `/me`.',
  },
  me_admits_all: {
    group: 'gate',
    seen: 'Nothing: all routes are open.',
    found: '`GET /me` without a credential is answered 200.',
    cure: 'Route `/me` to the admin service; add no credential on the way.',
  },
  platform_fails: {
    group: 'gate',
    seen: 'Every protected route answers 500.',
    found: '`GET /me` is answered with another status than 401.',
    cure: 'Look at the log of admin service and ingress.',
  },
  sign_in_unavailable: {
    group: 'gate',
    seen: '503 and a page at `/login`.',
    found: 'Starts a sign-in as a browser does.',
    cure: 'Run the doctor where the admin service runs.',
  },
  login_not_served: {
    group: 'gate',
    seen: '`/login` shows an error.',
    found: 'Starts a sign-in as a browser does.',
    cure: 'Route `/login` to the admin service.',
  },
  login_loop: {
    group: 'gate',
    seen: 'The browser says "too many redirects".',
    found: '`/login` leads back to the platform.',
    cure: 'Take the auth subrequest off the route of `/login`.',
  },
  protected_route_open: {
    group: 'gate',
    seen: 'Nothing: the route is open.',
    found: 'Asks for protected paths without a credential.',
    cure: 'Put the auth subrequest on the route.',
  },
  metadata_behind_sign_in: {
    group: 'metadata',
    seen: 'SDK and command line get 401 before any sign-in.',
    found: 'Asks every place of the metadata without a credential.',
    cure: 'Route `AuthMetadataService`, `/.well-known` and `/config` without an auth subrequest.',
  },
  metadata_unavailable: {
    group: 'metadata',
    seen: 'SDK and command line get 503.',
    found: 'Asks every place of the metadata without a credential.',
    cure: 'Run the doctor where the admin service runs.',
  },
  metadata_not_served: {
    group: 'metadata',
    seen: 'SDK and command line find no platform at the address.',
    found: 'Asks every place of the metadata without a credential.',
    cure: 'Route the metadata to the admin service.',
  },
  metadata_invalid: {
    group: 'metadata',
    seen: 'SDK and command line refuse the platform.',
    found: "Reads the metadata by the client's own rules.",
    cure: 'Correct `auth.appAuth`.',
  },
  metadata_issuer_differs: {
    group: 'metadata',
    seen: 'Tokens of clients are refused with `unknown_issuer`.',
    found: 'Compares the published issuer with the configuration.',
    cure: 'One value on both sides; reload.',
  },
  metadata_client_differs: {
    group: 'metadata',
    seen: 'The identity provider refuses the command line as unknown.',
    found: 'Compares the published client ID with `CLI_CLIENT_ID`.',
    cure: 'One value on both sides; reload.',
  },
  metadata_redirect_differs: {
    group: 'metadata',
    seen: 'The identity provider shows a page about the redirect address.',
    found: 'Compares the published redirect address with the configuration.',
    cure: 'One value on both sides; reload.',
  },
  header_name_differs: {
    group: 'headers',
    seen: 'SDK and internal services get 401.',
    found: 'Compares the header that is published, configured and sent.',
    cure: '`core-authorization` everywhere.',
  },
  probe_unfinished: {
    group: 'config',
    seen: 'The doctor could not look at something in time.',
    found: 'The probe was ended.',
    cure: 'A longer `--timeout`, or `--skip`.',
  },
  probe_failed: {
    group: 'config',
    seen: 'The doctor could not look at something.',
    found: 'The probe failed.',
    cure: 'Report it: it is a defect.',
  },
} as const;

/** The name of a cause: stable, never used again for another. */
export type CauseCode = keyof typeof TABLE;

/** Every cause by its name. */
export const CAUSES: Readonly<Record<CauseCode, Cause>> = TABLE;
