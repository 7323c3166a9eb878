/**
 * Faults of the group: network.
 *
 * @module
 */

import { passOn } from '../fake-token-endpoint.ts';
import { atFront, type Fault, openId, service, TOKEN_PATH } from '../fault.ts';
import { json, page } from '../faulty-plane.ts';

const NO_SERVER = 'http://127.0.0.1:1';
const DISCOVERY = '/.well-known/openid-configuration';
const IN_AN_HOUR = 3_600_000;

const later = (): string => new Date(Date.now() + IN_AN_HOUR).toUTCString();

/** In this order in the table. */
export const NETWORK_FAULTS: readonly Fault[] = [
  {
    fault: "the platform's name is in no DNS",
    cause: 'name_unknown',
    probe: 'platform.dns',
    ground: 'running plane',
    make: () => ({ url: 'http://platform.invalid' }),
  },
  {
    fault: 'the platform is not started',
    cause: 'connection_refused',
    probe: 'platform.tcp',
    ground: 'running plane',
    make: () => ({ url: NO_SERVER }),
  },
  {
    fault: 'the platform is asked by https on a port of http',
    cause: 'not_tls',
    probe: 'platform.tls',
    ground: 'running plane',
    make: ({ url }) => ({ url: url.replace('http:', 'https:') }),
  },
  {
    fault: 'the platform ends connections without an answer',
    cause: 'no_http_answer',
    probe: 'platform.http',
    ground: 'running plane',
    make: atFront('*', () => (req) => req.socket.destroy()),
  },
  {
    fault: 'OIDC_BASE_URL is a port that nothing listens on',
    cause: 'connection_refused',
    probe: 'issuer.tcp',
    ground: 'running plane',
    make: () => ({ config: openId({ baseUrl: NO_SERVER }) }),
  },
  {
    fault: 'the token endpoint is unreachable (AUTH_TOKEN_URL)',
    cause: 'connection_refused',
    probe: 'token.2.tcp',
    ground: 'running plane',
    make: () => ({ config: service({ tokenUrl: `${NO_SERVER}/token` }) }),
  },
  {
    fault: 'AUTH_TOKEN_URL has a wrong path',
    cause: 'token_endpoint_wrong',
    ground: 'running plane',
    make: ({ issuer }) => ({ config: service({ tokenUrl: `${issuer}/nowhere` }) }),
  },
  {
    fault: 'AUTH_TOKEN_URL is another name of the token endpoint',
    cause: 'token_url_differs',
    ground: 'fake endpoint',
    make(plane) {
      plane.idp.set('/other/token', passOn(`${plane.issuer}${TOKEN_PATH}`));
      return { config: service({ tokenUrl: `${plane.issuer}/other/token` }) };
    },
  },
  {
    fault: 'the identity provider answers 503',
    cause: 'idp_fails',
    probe: 'issuer.http',
    ground: 'running plane',
    make(plane) {
      plane.idp.set(DISCOVERY, page(503));
      return {};
    },
  },
  {
    fault: 'the path of the issuer is missing or wrong (/realms/NAME)',
    cause: 'issuer_not_served',
    ground: 'running plane',
    make: ({ issuer }) => ({ config: openId({ baseUrl: `${issuer}/realms/nosuch` }) }),
  },
  {
    fault: 'the issuer has a final slash too many',
    cause: 'issuer_slash',
    ground: 'running plane',
    make: ({ issuer }) => ({ config: openId({ baseUrl: `${issuer}/` }) }),
  },
  {
    fault: 'the identity provider says that it is another issuer',
    cause: 'issuer_differs',
    ground: 'fake endpoint',
    make(plane) {
      plane.overMetadata({ issuer: 'https://idp.example/realms/other' });
      return {};
    },
  },
  {
    fault: 'the metadata has no token endpoint',
    cause: 'discovery_invalid',
    ground: 'fake endpoint',
    make(plane) {
      plane.overMetadata({ token_endpoint: undefined });
      return {};
    },
  },
  {
    fault: 'the key set is empty',
    cause: 'keys_unusable',
    ground: 'fake endpoint',
    make(plane) {
      plane.idp.set(new URL(String(plane.document['jwks_uri'])).pathname, json(200, { keys: [] }));
      return {};
    },
  },
  {
    fault: 'the identity provider knows PKCE without S256 only',
    cause: 'pkce_not_supported',
    ground: 'fake endpoint',
    make(plane) {
      plane.overMetadata({ code_challenge_methods_supported: ['plain'] });
      return {};
    },
  },
  {
    fault: "the identity provider's clock is an hour ahead",
    cause: 'clock_differs',
    probe: 'clocks.issuer',
    ground: 'fake endpoint',
    make(plane) {
      plane.idp.set(DISCOVERY, json(200, plane.document, { date: later() }));
      return {};
    },
  },
];
