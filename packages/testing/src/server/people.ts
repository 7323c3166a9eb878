/**
 * A made-up person who signed in, and how long sessions live.
 *
 * @module
 */

import type { UserRecord } from '@sallyport/protocol';
import type { IssuedTokens } from '../../../server/src/issuer/token-refresh.ts';
import type { NewSession, SessionLifetimes } from '../../../server/src/session/sessions.ts';
import type { AccessRules } from '../../../server/src/verdict/access.ts';

/** Idle 12 h, absolute 7 d, 1 h without a refresh token, asked again within 10 min, good for 5 more. */
export const LIFETIMES: SessionLifetimes = {
  idleTimeoutMs: 43_200_000,
  absoluteMs: 604_800_000,
  withoutRefreshTokenIdleMs: 3_600_000,
  revalidateAfterMs: 600_000,
  renewalGraceMs: 300_000,
};

/** The same, with sessions that need no renewal before their absolute end. */
export const UNASKED_LIFETIMES: SessionLifetimes = {
  ...LIFETIMES,
  revalidateAfterMs: LIFETIMES.absoluteMs,
};

/** The record of Ada. */
export const ADA: UserRecord = {
  subject: 'ada-subject',
  name: 'Ada Lovelace',
  preferredUsername: 'ada',
  givenName: 'Ada',
  familyName: 'Lovelace',
  email: 'ada@corp.example',
  picture: '',
  additionalClaims: {},
};

/** Tokens that are none. */
export const TOKENS: IssuedTokens = {
  idToken: 'id-token-of-ada',
  accessToken: 'access-token-of-ada',
  refreshToken: 'refresh-token-of-ada',
};

/** What Ada's sign-in brings. */
export const ADA_SIGNS_IN: NewSession = {
  principal: { issuer: 'https://idp.example', subject: 'ada-subject', kind: 'user' },
  user: ADA,
  claims: { email: 'ada@corp.example', email_verified: true, groups: ['engineers'] },
  sid: 'sid-1',
  tokens: TOKENS,
  signInAt: 1_767_614_370_000,
  accessTokenLifeMs: 3_600_000,
  address: '192.0.2.1',
  browser: 'Example/1.0',
};

/** Rules that admit everyone whom the IdP authenticates. */
export const OPEN_RULES: AccessRules = {
  tenants: [],
  groups: [],
  emailDomains: [],
  clientIds: [],
  tenantClaim: 'tid',
  groupsClaim: 'groups',
  emailTrusted: false,
};
