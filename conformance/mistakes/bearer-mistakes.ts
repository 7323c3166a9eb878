/**
 * Mistakes that show as a 401 or 403 of a program.
 *
 * @module
 */

import { accessToken, BEARER_HEADER } from '../wire/bearer.ts';
import { exchange } from '../wire/exchange.ts';
import type { Service } from '../wire/platform.ts';
import { type Mistake, saidOf, type Volatile } from './mistake.ts';

/** Rows that one service shows, one after the other. */
export function listBearerMistakes(serviceOf: () => Service): readonly Mistake[] {
  const show =
    (claims: (now: number) => object, more: Volatile = [], header: object = {}) =>
    () =>
      saidOf(
        serviceOf(),
        async () => {
          const { idp, url } = serviceOf();
          const now = Math.floor(Date.now() / 1_000);
          const token = await accessToken(idp, url, claims(now), header);
          return exchange(`${url}/me`, { headers: { [BEARER_HEADER]: `Bearer ${token}` } });
        },
        more,
      );
  return [
    {
      name: 'The access token is for another audience: no mapper or API for the public URL',
      make: show(() => ({ aud: ['account', 'other-api'] })),
    },
    {
      name: 'The access token lacks the scope all',
      make: show(() => ({ scope: 'openid profile' })),
    },
    {
      name: 'The access token is of another authorization server',
      make: show(() => ({ iss: 'https://other.example.com' })),
    },
    {
      name: 'The issuer of the access token has a slash more',
      make: show(() => ({ iss: `${serviceOf().idp.issuer}/` })),
    },
    {
      name: 'The access token has ended: the program does not renew it',
      make: show((now) => ({ iat: now - 900, exp: now - 600 }), [[/ended 60\d s/g, 'ended 600 s']]),
    },
    {
      name: 'The access token comes from a clock that is ahead',
      make: show(
        (now) => ({ iat: now + 180, exp: now + 600 }),
        [[/is 1[78]\d s ahead/g, 'is 180 s ahead']],
      ),
    },
    {
      name: 'The program sends its id_token',
      make: show(() => ({ nonce: 'n', aud: 'web-client' }), [], { typ: 'JWT' }),
    },
    {
      name: 'The program sends an opaque token, and no introspection is configured',
      make: () =>
        saidOf(serviceOf(), () =>
          exchange(`${serviceOf().url}/me`, {
            headers: { [BEARER_HEADER]: 'Bearer opaque-token' },
          }),
        ),
    },
  ];
}
