import {
  AUDIENCE,
  HONEST_CLAIMS,
  ISSUER_SETTINGS,
  NATIVE_CLIENT,
  WEB_CLIENT,
} from '@sallyport/testing/idp/forge';
import { BEARER_SETTINGS } from '@sallyport/testing/server/bearer';
import { NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../issuer/jwt/strict-json.ts';
import { createClaimsPolicy, findClaimsProblem } from './access-token.ts';

const NOW_SECONDS = NOON / 1_000;
/** Whatever claim is configured to name the client, the others are looked at, too. */
const SETTINGS = { ...ISSUER_SETTINGS, clientIdClaims: ['client_id'] };

function problemOf(claims: Readonly<Record<string, string>>, audiences = [AUDIENCE]) {
  const policy = createClaimsPolicy({ ...SETTINGS, audiences }, BEARER_SETTINGS);
  return findClaimsProblem({ ...HONEST_CLAIMS, ...claims } as JsonObject, policy, NOW_SECONDS);
}

describe('claims of an access token', () => {
  it.each(['client_id', 'azp', 'cid', 'appid'])(
    'are not those of the web application, whose tokens stay with the server (%s)',
    (name) => {
      expect(problemOf({ [name]: WEB_CLIENT })).toBe('client');
      expect(problemOf({ [name]: 'another' })).toBeUndefined();
    },
  );

  it.each([WEB_CLIENT, NATIVE_CLIENT])(
    'are not for an application that people sign in with, also where %s is configured as audience',
    (client) => {
      expect(problemOf({ aud: client }, [AUDIENCE, client])).toBe('aud');
      expect(problemOf({ aud: AUDIENCE }, [AUDIENCE, client])).toBeUndefined();
      expect(problemOf({ aud: 'api' }, [AUDIENCE, 'api'])).toBeUndefined();
    },
  );
});
