/**
 * Faults of the group: gate.
 *
 * @module
 */

import { atFront, type Fault } from '../fault.ts';
import { json, page } from '../faulty-plane.ts';

/** In this order in the table. */
export const GATE_FAULTS: readonly Fault[] = [
  {
    fault: 'server.security.useAuth is false at the running service',
    cause: 'routes_not_registered',
    ground: 'running plane',
    async make(plane) {
      await plane.replaceService({ server: { security: { useAuth: false } } });
      return {};
    },
  },
  {
    fault: '/me is routed to the console, which answers a page for every path',
    cause: 'routes_not_registered',
    ground: 'running plane',
    make: atFront('/me', () => page(200)),
  },
  {
    fault: '/me sits behind the auth subrequest itself',
    cause: 'me_redirects',
    ground: 'running plane',
    make: atFront('/me', () => page(302, { location: '/login?redirect_url=/me' })),
  },
  {
    fault: 'something else answers /me with 200',
    cause: 'me_admits_all',
    ground: 'running plane',
    make: atFront('/me', () => json(200, {})),
  },
  {
    fault: 'the ingress does not reach the admin service',
    cause: 'platform_fails',
    ground: 'running plane',
    make: atFront('/me', () => page(502)),
  },
  {
    fault: 'the admin service does not reach its identity provider',
    cause: 'sign_in_unavailable',
    ground: 'running plane',
    make: atFront('/login', () => page(503)),
  },
  {
    fault: '/login is not routed to the admin service',
    cause: 'login_not_served',
    ground: 'running plane',
    make: atFront('/login', () => page(404)),
  },
  {
    fault: '/login sits behind the auth subrequest',
    cause: 'login_loop',
    ground: 'running plane',
    make: atFront('/login', () => page(302, { location: '/login?redirect_url=/login' })),
  },
  {
    fault: '/login leads to another identity provider',
    cause: 'login_elsewhere',
    ground: 'running plane',
    make: atFront('/login', ({ url }) =>
      page(302, {
        location: `https://other.example/authorize?client_id=web-app&redirect_uri=${url}/callback`,
        'set-cookie': 'attempt=1; HttpOnly; SameSite=Lax; Path=/callback',
      }),
    ),
  },
  {
    fault: 'a protected route has no auth subrequest',
    cause: 'protected_route_open',
    ground: 'running plane',
    make: atFront('/console', () => page(200)),
  },
];
