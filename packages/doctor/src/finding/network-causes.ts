/**
 * Causes on the way to a server, and at the identity provider.
 *
 * @module
 */

/** By name, as `Cause` has them. */
export const NETWORK_CAUSES = {
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
    found:
      'Sends one request, for five seconds; where nothing has ended by then, listens for two more whether headers are on their way.',
    cure: "Look at the server's log, and at proxies in front of it. Where the finding names a proxy of the environment, compare `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`.",
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
} as const;
