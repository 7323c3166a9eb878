/**
 * What the authentication is put together from.
 *
 * @module
 */

import type { RouteMatcher } from '@sallyport/protocol';
import type { Audit } from './audit/audit.ts';
import type { BearerSettings } from './bearer/bearer-settings.ts';
import type { HttpDoor } from './doors/door.ts';
import type { Readiness } from './health/readiness.ts';
import type { Issuers } from './issuer/issuers.ts';
import type { ClientKeys } from './issuer/relying-party/client-keys.ts';
import type { RelyingParty } from './issuer/relying-party/relying-party.ts';
import type { Log } from './log/log.ts';
import type { MetadataOptions } from './metadata/rest-door.ts';
import type { VerdictObserver } from './observe/verdict-observer.ts';
import type { KeyRingSource } from './session/key-ring.ts';
import type { SessionStore } from './session/session-store.ts';
import type { SessionLifetimes } from './session/sessions.ts';
import type { Schedule } from './time/schedule.ts';
import type { Tracer } from './trace/tracer.ts';
import type { AccessRules } from './verdict/access.ts';

/** Settings and ports of `createAdminServer`. */
export interface AdminServerOptions {
  /** `publicUrl`; only its origin counts. */
  readonly publicUrl: URL;
  readonly redirectOrigins: readonly string[];
  /** `auth.userAuth.redirectUrl`: where a sign-in that names no target ends. */
  readonly landing: string;
  readonly trustedProxies: readonly string[];
  readonly cookie: { readonly sameSite: 'Lax' | 'None' | undefined; readonly domain: string };
  readonly lifetimes: SessionLifetimes;
  /** How many renewals a second this process asks the IdP for, on average. */
  readonly renewalsPerSecond: number;
  readonly bearer: {
    readonly httpAuthorizationHeader: string;
    readonly grpcAuthorizationHeader: string;
    readonly onlyConfiguredHeader: boolean;
    /** Whose tokens are accepted, and how they are read. */
    readonly accepts: BearerSettings;
    /** Put before the subject of a person who signs in, see `IssuerSettings.subjectPrefix`. */
    readonly subjectPrefix: string;
  };
  readonly access: AccessRules;
  readonly claimHeaders: readonly string[];
  readonly stripHeaders: readonly string[];
  readonly idpQueryParameter: string;
  readonly rateLimitPerMinute: number;
  /** `doors.me.verdictCache`; 0 by default: a proxy may keep nothing. */
  readonly verdictCacheMs?: number;
  /** By default those of `http-doors.ts`. */
  readonly doors?: readonly HttpDoor[] | undefined;
  /** Which routes are protected. */
  readonly matchRoute: RouteMatcher;
  readonly metadata: MetadataOptions;
  readonly store: SessionStore;
  readonly keyRing: KeyRingSource;
  readonly relyingParty: RelyingParty;
  /** Whose tokens are accepted; closed together with this. */
  readonly issuers: Issuers;
  /** The web app's keys, to be published; absent where it proves itself by a secret. */
  readonly clientKeys?: ClientKeys | undefined;
  readonly fetch: typeof fetch;
  readonly now: () => number;
  readonly schedule: Schedule;
  readonly log: Log;
  readonly audit: Audit;
  /** The process's, when it may go over to other parts later; by default it is that of these alone. */
  readonly readiness?: Readiness | undefined;
  /** Gets every verdict that a door asks for. */
  readonly onVerdict?: VerdictObserver | undefined;
  /** Absent where nothing is traced: then a request runs no code of it. */
  readonly tracer?: Tracer | undefined;
}
