/**
 * What the sign-in endpoints are made from; each field a port or a setting.
 *
 * @module
 */

import type { LandingPolicy } from '@sallyport/protocol';
import type { Audit } from '../audit/audit.ts';
import type { RelyingParty } from '../issuer/relying-party/relying-party.ts';
import type { Log } from '../log/log.ts';
import type { KeyRing } from '../session/key-ring.ts';
import type { CookieSettings } from '../session/session-cookie.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { Sessions } from '../session/sessions.ts';
import type { AccessRules } from '../verdict/access.ts';
import type { Check } from '../verdict/check.ts';
import type { Attempts } from './attempt.ts';

/** Shared by `/login`, `/callback` and `/logout`. */
export interface SignInDependencies {
  readonly redirects: LandingPolicy;
  readonly cookies: CookieSettings;
  readonly check: Check;
  readonly sessions: Sessions;
  readonly store: SessionStore;
  readonly ring: KeyRing;
  readonly attempts: Attempts;
  readonly relyingParty: RelyingParty;
  readonly access: () => AccessRules;
  /** Claims kept beyond the user record's own fields. */
  readonly claimHeaders: readonly string[];
  /** `auth.userAuth.idpQueryParameter`; empty: none is passed on. */
  readonly idpQueryParameter: string;
  /** Whether a path of ours needs a session, so that going there would start a sign-in. */
  readonly isProtectedPath: (path: string) => boolean;
  readonly log: Log;
  readonly audit: Audit;
}
