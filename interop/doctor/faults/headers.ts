/**
 * Faults of the group: headers.
 *
 * @module
 */

import type { Fault } from '../fault.ts';
import { IDS } from '../faulty-plane.ts';

/** In this order in the table. */
export const HEADERS_FAULTS: readonly Fault[] = [
  {
    fault: 'the ingress drops the header core-authorization',
    cause: 'header_dropped',
    ground: 'running plane',
    make(plane) {
      plane.dropped.add('core-authorization');
      return {};
    },
  },
  {
    fault: 'the configured header differs from core-authorization at the running service',
    cause: 'header_name_differs',
    ground: 'running plane',
    async make(plane) {
      await plane.replaceService({
        auth: { grpcAuthorizationHeader: 'x-token', httpAuthorizationHeader: 'x-token' },
        union: { auth: { authorizationMetadataKey: 'x-token' } },
      });
      return {};
    },
  },
  {
    fault: 'a service sends its token in another header than the platform reads',
    cause: 'header_name_differs',
    probe: 'headers.name',
    ground: 'running plane',
    make: (plane) => ({
      clients: [
        {
          union: {
            auth: {
              clientId: IDS.service,
              clientSecretLocation: plane.write('client_secret', plane.serviceSecret),
              tokenUrl: `${plane.issuer}/idp/token`,
              authorizationMetadataKey: 'x-other',
            },
          },
        },
      ],
    }),
  },
  {
    fault: 'the ingress drops Set-Cookie',
    cause: 'cookie_missing',
    ground: 'running plane',
    make(plane) {
      plane.setCookie = () => '';
      return {};
    },
  },
  {
    fault: 'a proxy makes cookies SameSite=Strict',
    cause: 'cookie_same_site',
    ground: 'running plane',
    make(plane) {
      plane.setCookie = (cookie) => cookie.replace(/SameSite=Lax/i, 'SameSite=Strict');
      return {};
    },
  },
  {
    fault: 'cookies are for another domain',
    cause: 'cookie_domain',
    ground: 'running plane',
    make(plane) {
      plane.setCookie = (cookie) => `${cookie}; Domain=other.example`;
      return {};
    },
  },
  {
    fault: 'a cookie is larger than browsers keep',
    cause: 'cookie_too_large',
    ground: 'running plane',
    make(plane) {
      plane.setCookie = (cookie) => cookie.replace('=', `=${'x'.repeat(4_200)}`);
      return {};
    },
  },
  {
    fault: 'cookies are Secure, and the platform is opened by plain http',
    cause: 'cookie_not_secure',
    ground: 'running plane',
    make(plane) {
      plane.setCookie = (cookie) => `${cookie}; Secure`;
      return { url: plane.url.replace('localhost', '127.0.0.1') };
    },
  },
  {
    fault: 'publicUrl is another address than the one in the browser',
    cause: 'public_url_differs',
    ground: 'running plane',
    make: ({ url }) => ({ url: url.replace('localhost', '127.0.0.1') }),
  },
];
