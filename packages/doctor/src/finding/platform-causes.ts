/**
 * Causes at the platform: gate, metadata, headers, cookies.
 *
 * @module
 */

/** By name, as `Cause` has them. */
export const PLATFORM_CAUSES = {
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
  login_elsewhere: {
    group: 'gate',
    seen: 'People land at another identity provider.',
    found: 'Compares where `/login` leads with the authorization endpoint of the issuer.',
    cure: 'Restart the admin service with the configuration looked at.',
  },
  header_dropped: {
    group: 'headers',
    seen: 'SDK and internal services get 401 with `no_credential`.',
    found: 'Shows a made-up token to `/me`: its reason says that none arrived.',
    cure: 'Let every proxy pass the header on, to `/me` as well.',
  },
  cookie_missing: {
    group: 'cookies',
    seen: 'Sign-ins end on "this sign-in is gone".',
    found: 'Reads the cookies of `/login`.',
    cure: 'Let every proxy pass `Set-Cookie` on.',
  },
  cookie_same_site: {
    group: 'cookies',
    seen: 'Sign-ins end on "this sign-in is gone".',
    found: 'Reads the cookies of `/login`.',
    cure: '`sameSitePolicy: LaxMode`.',
  },
  cookie_not_secure: {
    group: 'cookies',
    seen: 'Sign-ins loop, or the cookie can be read on the way.',
    found: 'Reads the cookies of `/login`.',
    cure: '`https` in `publicUrl`, and in the browser.',
  },
  cookie_domain: {
    group: 'cookies',
    seen: 'Sign-ins loop.',
    found: 'Reads the cookies of `/login`.',
    cure: 'Leave `cookieSetting.domain` empty.',
  },
  cookie_too_large: {
    group: 'cookies',
    seen: '400 or 502 from a proxy, or sign-ins that loop.',
    found: 'Adds up the cookies of `/login`.',
    cure: 'Larger buffers at the proxy: 16k.',
  },
  proxy_buffers_small: {
    group: 'proxy',
    seen: '502 at `/login` or `/callback`; nginx logs "upstream sent too big header".',
    found:
      'Starts a sign-in with a long deep link; reads `proxy_buffer_size` of nginx files and the annotation `proxy-buffer-size` of Ingress objects.',
    cure: '`proxy_buffer_size 16k` at the routes of sign-in.',
  },
  verdict_shared: {
    group: 'proxy',
    seen: 'Nothing: one person has the access of another.',
    found:
      'Asks a protected path with a token of the service app, then with a made-up one: the second is admitted, too.',
    cure: 'Bearer header and cookie in the key of the cache, or no cache.',
  },
  public_url_differs: {
    group: 'cookies',
    seen: 'Sign-ins loop or end on "this sign-in is gone".',
    found: 'Compares the redirect address of `/login` with the address that was asked.',
    cure: 'One address: `publicUrl` is that of the browser.',
  },
} as const;
