import { describe, expect, it } from 'vitest';
import { classifyAuthentication, classifyGrantAnswer } from './grant-answer.ts';

/** Another grant of the client, with its secret and with one that is made up. */
const PROBES = {
  accepted: {
    otherGrant: { status: 400, error: 'invalid_grant' },
    otherGrantMadeUpSecret: { status: 401, error: 'unauthorized_client' },
  },
  refused: {
    otherGrant: { status: 401, error: 'unauthorized_client' },
    otherGrantMadeUpSecret: { status: 401, error: 'unauthorized_client' },
  },
  undecided: {},
} as const;

const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';

/** Answers as the providers give them: Keycloak's were seen, the others are published. */
const ANSWERS = [
  [
    'Keycloak: a service without the grant',
    'client_credentials',
    401,
    'unauthorized_client',
    'accepted',
    'refused',
  ],
  [
    'Keycloak: a wrong secret',
    'client_credentials',
    401,
    'unauthorized_client',
    'refused',
    'client_refused',
  ],
  [
    'Keycloak: an unknown client',
    'client_credentials',
    401,
    'invalid_client',
    'refused',
    'client_refused',
  ],
  ['Okta: a public client', 'client_credentials', 401, 'invalid_client', 'accepted', 'refused'],
  [
    'a 401 that nothing explains',
    'client_credentials',
    401,
    'unauthorized_client',
    'undecided',
    'client_refused',
  ],
  [
    'Okta: the grant is off',
    'client_credentials',
    400,
    'unauthorized_client',
    'undecided',
    'refused',
  ],
  [
    'Okta: no policy admits it',
    'client_credentials',
    400,
    'access_denied',
    'undecided',
    'policy_refused',
  ],
  [
    'Entra: the app is switched off',
    'client_credentials',
    400,
    'invalid_grant',
    'undecided',
    'policy_refused',
  ],
  ['an unknown scope', 'client_credentials', 400, 'invalid_scope', 'undecided', 'scope_refused'],
  [
    'Auth0: no audience',
    'client_credentials',
    400,
    'invalid_request',
    'undecided',
    'request_refused',
  ],
  ['Keycloak: devices are off', DEVICE, 400, 'unauthorized_client', 'undecided', 'refused'],
  ['passwords are on', 'password', 400, 'invalid_grant', 'undecided', 'permitted'],
  ['Keycloak: passwords are on', 'password', 401, 'invalid_grant', 'accepted', 'permitted'],
  ['Keycloak: passwords are off', 'password', 400, 'unauthorized_client', 'undecided', 'refused'],
  [
    'a person has to sign in',
    'authorization_code',
    302,
    'login_required',
    'undecided',
    'permitted',
  ],
  ['a page instead of a redirect', 'authorization_code', 400, '', 'undecided', 'refused'],
  ['no challenge', 'authorization_code', 302, 'invalid_request', 'undecided', 'request_refused'],
  ['the response type is off', 'implicit', 302, 'unauthorized_client', 'undecided', 'refused'],
  ['a redirect elsewhere', 'authorization_code', 302, '', 'undecided', 'undecided'],
  ['too many requests', 'client_credentials', 429, 'access_denied', 'undecided', 'undecided'],
  ['a failure', 'authorization_code', 503, '', 'undecided', 'undecided'],
  [
    'Keycloak: an error of its own',
    'client_credentials',
    400,
    'not_allowed',
    'undecided',
    'request_refused',
  ],
  ['a page of another program', 'client_credentials', 404, '', 'undecided', 'undecided'],
  ['no answer', 'client_credentials', 0, '', 'undecided', 'undecided'],
] as const;

describe('An answer to a try of a grant', () => {
  it.each(ANSWERS)(
    '%s: %s, %i %s, authentication %s, is %s',
    (_, grant, status, error, authentication, outcome) => {
      expect(classifyGrantAnswer(grant, { status, error }, false, PROBES[authentication])).toBe(
        outcome,
      );
    },
  );

  it('permits the grant only where it holds what the grant gives', () => {
    const answer = { status: 200, error: '' };
    expect(classifyGrantAnswer('client_credentials', answer, true)).toBe('permitted');
    expect(classifyGrantAnswer('client_credentials', answer, false)).toBe('undecided');
  });
});

describe('Who a client is', () => {
  const unknown = { status: 401, error: 'invalid_client' };

  it.each([
    ['accepted', 400, 'invalid_grant', unknown],
    ['accepted', 400, 'unauthorized_client', unknown],
    ['refused', 401, 'unauthorized_client', unknown],
    ['refused', 401, 'invalid_client', unknown],
    ['undecided', 400, 'unauthorized_client', { status: 400, error: 'unauthorized_client' }],
    ['accepted', 400, 'invalid_request', unknown],
    ['undecided', 400, 'invalid_grant', { status: 0, error: '' }],
    ['undecided', 400, 'invalid_grant', { status: 503, error: 'x' }],
    ['undecided', 500, 'invalid_grant', unknown],
    ['undecided', 0, '', unknown],
  ] as const)('is %s by %i %s', (expected, status, error, ofUnknown) => {
    expect(classifyAuthentication({ status, error }, ofUnknown)).toBe(expected);
  });
});
