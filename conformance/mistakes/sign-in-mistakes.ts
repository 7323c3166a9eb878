/**
 * Mistakes that show when a person signs in: at the IdP, in the settings of its clients, with clocks.
 *
 * @module
 */

import type { Lie, TokenAnswer } from '@sallyport/testing/idp/fake-idp';
import { Browser } from '../wire/browser.ts';
import type { Received } from '../wire/exchange.ts';
import type { Service } from '../wire/platform.ts';
import { type Mistake, saidOf, type Volatile } from './mistake.ts';

const MINUTES_AHEAD = 3;

/** The IdP answers the token request with an error. */
function answers(status: number, error: string, description = ''): TokenAnswer {
  const body = { error, ...(description === '' ? {} : { error_description: description }) };
  return { status, body: JSON.stringify(body) };
}

/** The IdP sends the browser back with an error. */
async function sentBackWith(service: Service, error: string): Promise<Received> {
  const browser = new Browser();
  const sent = await browser.step(`${service.url}/login?redirect_url=%2F`);
  const state = new URL(sent.location ?? '').searchParams.get('state') ?? '';
  const query = new URLSearchParams({ error, state, iss: service.idp.issuer });
  return browser.step(`${service.url}/callback?${query}`);
}

/** Rows that one service shows, one after the other. */
export function listSignInMistakes(serviceOf: () => Service): readonly Mistake[] {
  const signIn =
    (lie: Lie, more: Volatile = []) =>
    () =>
      saidOf(serviceOf(), () => serviceOf().signIn(new Browser(), '/', lie), more);
  /** The claims of the id_token, put over the honest ones. */
  const claims = (change: (now: number) => Readonly<Record<string, unknown>>): Lie => ({
    forge: (forgery) =>
      serviceOf().idp.honest({ ...forgery, claims: { ...forgery.claims, ...change(forgery.now) } }),
  });
  return [
    {
      name: 'The client secret is not the one that the identity provider knows',
      make: signIn({ answer: () => answers(401, 'invalid_client') }),
    },
    {
      name: 'The client secret is not the one that Keycloak knows',
      make: signIn({
        answer: () =>
          answers(401, 'unauthorized_client', 'Invalid client or Invalid client credentials'),
      }),
    },
    {
      name: 'The web app may not use the authorization code',
      make: signIn({ answer: () => answers(400, 'unauthorized_client') }),
    },
    {
      name: 'The web app may not ask for one of the scopes',
      make: () => saidOf(serviceOf(), () => sentBackWith(serviceOf(), 'invalid_scope')),
    },
    {
      name: 'The web app may not sign people in',
      make: () => saidOf(serviceOf(), () => sentBackWith(serviceOf(), 'unauthorized_client')),
    },
    {
      name: 'The person cancels, or no access policy admits the web app',
      make: () => saidOf(serviceOf(), () => sentBackWith(serviceOf(), 'access_denied')),
    },
    {
      name: 'The code of a sign-in is used a second time',
      make: signIn({ answer: () => answers(400, 'invalid_grant') }),
    },
    {
      name: 'The clock of the identity provider is ahead',
      make: signIn(
        claims((now) => ({ iat: now + MINUTES_AHEAD * 60, exp: now + 600 })),
        [[/is 1[78]\d s ahead/g, 'is 180 s ahead']],
      ),
    },
    {
      name: 'The clock of the identity provider is behind, or this one is ahead',
      make: signIn(
        claims((now) => ({ iat: now - 900, exp: now - 600 })),
        [[/ended 60\d s ago/g, 'ended 600 s ago']],
      ),
    },
    {
      name: 'The client ID is that of another application',
      make: signIn(claims(() => ({ aud: 'another-client' }))),
    },
    {
      name: 'The id_token is of another issuer than its metadata',
      make: signIn(claims(() => ({ iss: `${serviceOf().idp.issuer}/` }))),
    },
    {
      name: 'The identity provider fails as it is asked for the tokens',
      make: signIn({ answer: () => ({ status: 502, body: 'bad gateway' }) }),
    },
    {
      name: 'The identity provider has another key than it publishes',
      make: signIn({ forge: async (forgery) => `${await serviceOf().idp.honest(forgery)}x` }),
    },
    {
      name: 'The person is in no tenant that may enter',
      make: signIn({ userInfo: { email: 'eve@other.test', email_verified: true, tid: 'other' } }),
    },
    {
      name: 'The scopes hold no `email`, which the default ones do not hold either',
      make: signIn({ userInfo: { tid: 'ours' } }),
    },
    {
      name: 'The browser does not keep cookies, or a proxy drops them',
      make: () =>
        saidOf(serviceOf(), async () => {
          const service = serviceOf();
          const browser = new Browser(false);
          const sent = await browser.step(`${service.url}/login?redirect_url=%2F`);
          return service.finish(browser, sent.location ?? '');
        }),
    },
    {
      name: 'A proxy repeats the parameters of the query',
      make: () =>
        saidOf(serviceOf(), () =>
          new Browser().step(`${serviceOf().url}/callback?code=a&code=b&state=c`),
        ),
    },
    {
      name: 'The userinfo of the identity provider is of another person',
      make: signIn({ userInfoAnswer: { body: JSON.stringify({ sub: 'eve' }) } }),
    },
    {
      name: 'The token endpoint is answered by something else, such as the sign-in of a proxy',
      make: signIn({
        answer: () => ({ status: 200, body: '<html>sign in</html>', contentType: 'text/html' }),
      }),
    },
  ];
}
