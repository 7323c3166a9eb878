/**
 * Token endpoints that answer as another identity provider publishes.
 *
 * @module
 */

import { type Fault, TOKEN_PATH } from './fault.ts';
import { type FaultyPlane, type Handler, IDS, json } from './faulty-plane.ts';

/** Status and code of each refusal. */
export interface Refusals {
  readonly wrongSecret: readonly [status: number, error: string];
  readonly unknownClient: readonly [status: number, error: string];
  readonly clientCredentials: readonly [status: number, error: string];
}

/** As Keycloak 26.4 answers. */
export const KEYCLOAK: Refusals = {
  wrongSecret: [401, 'unauthorized_client'],
  unknownClient: [401, 'invalid_client'],
  clientCredentials: [401, 'unauthorized_client'],
};
/** As Okta's API reference has it. */
export const OKTA: Refusals = {
  wrongSecret: [401, 'invalid_client'],
  unknownClient: [401, 'invalid_client'],
  clientCredentials: [400, 'access_denied'],
};

/** A token endpoint with the plane's clients and secrets, and the refusals of another provider. */
export function refusingAs(refusals: Refusals, isPublic = false): (plane: FaultyPlane) => Handler {
  return ({ webSecret, serviceSecret }) =>
    (req, res, body) => {
      const form = new URLSearchParams(body);
      const [, basic = ''] = /^Basic (.+)$/.exec(req.headers.authorization ?? '') ?? [];
      const [id = '', given = ''] = Buffer.from(basic, 'base64').toString().split(':');
      const clientId = id || (form.get('client_id') ?? '');
      const secret = given || (form.get('client_secret') ?? '');
      const secrets = new Map<string, string>([
        [IDS.web, webSecret],
        [IDS.service, serviceSecret],
      ]);
      const right = secrets.get(clientId);
      const isServed = isPublic && clientId === IDS.service;
      const [status, error] =
        right === undefined
          ? refusals.unknownClient
          : right !== secret && !isServed
            ? refusals.wrongSecret
            : form.get('grant_type') === 'client_credentials'
              ? refusals.clientCredentials
              : ([400, 'invalid_grant'] as const);
      json(status, { error, error_description: 'words that change' })(req, res, body);
    };
}

/** A token endpoint that grants this to client credentials, and refuses a code. */
export function granting(claims: (plane: FaultyPlane) => object | string): Fault['make'] {
  return (plane) => {
    const made = claims(plane);
    const encode = (part: object): string =>
      Buffer.from(JSON.stringify(part)).toString('base64url');
    const token =
      typeof made === 'string' ? made : `${encode({ alg: 'RS256' })}.${encode(made)}.c2lnbmF0dXJl`;
    plane.idp.set(TOKEN_PATH, (req, res, body) => {
      const isService = new URLSearchParams(body).get('grant_type') === 'client_credentials';
      if (isService) json(200, { access_token: token, token_type: 'Bearer' })(req, res, body);
      else json(400, { error: 'invalid_grant' })(req, res, body);
    });
    return {};
  };
}

/** What the platform takes. */
export const honestClaims = ({ issuer, url }: FaultyPlane): Record<string, unknown> => ({
  iss: issuer,
  aud: url,
  scope: 'all',
  sub: IDS.service,
  client_id: IDS.service,
  iat: Math.floor(Date.now() / 1_000),
  exp: Math.floor(Date.now() / 1_000) + 300,
});

/** The same endpoint by another address. */
export function passOn(url: string): Handler {
  return (req, res, body) => {
    const { authorization = '', 'content-type': type = '' } = req.headers;
    void fetch(url, {
      method: 'POST',
      headers: { authorization, 'content-type': type },
      body,
    }).then(async (answer) => json(answer.status, await answer.json())(req, res, body));
  };
}
