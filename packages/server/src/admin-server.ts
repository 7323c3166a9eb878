/**
 * The admin service's authentication, put together from settings and ports.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import type { RouteMatcher } from '@sallyport/protocol';
import type { Answer } from './answer/answer.ts';
import type { BackendHeaderPolicy } from './answer/backend-headers.ts';
import { classifyCaller } from './answer/caller.ts';
import { shapeAnswer } from './answer/shape-answer.ts';
import { createApplicationHandler } from './application-handler.ts';
import { type Audit, NO_REQUEST, NOBODY } from './audit/audit.ts';
import { createOriginReader } from './audit/audit-origin.ts';
import type { BearerSettings } from './bearer/bearer-settings.ts';
import { createBearerVerifier } from './bearer/bearer-verifier.ts';
import { createMeDoor } from './doors/me.ts';
import { createVerdictCache } from './doors/verdict-cache.ts';
import { Readiness, type WaitingFor } from './health/readiness.ts';
import { createIssuerFetch } from './issuer/issuer-request.ts';
import type { Issuers } from './issuer/issuers.ts';
import type { ClientKeys } from './issuer/relying-party/client-keys.ts';
import type { RelyingParty } from './issuer/relying-party/relying-party.ts';
import { createClientAddress } from './listener/client-address.ts';
import type { HttpHandler } from './listener/connections.ts';
import { describeFailure, type Log } from './log/log.ts';
import type { MetadataOptions } from './metadata/rest-door.ts';
import { auditBearers } from './observe/audit-bearers.ts';
import type { ServerReadings } from './observe/metrics/metrics.ts';
import { traceRequests } from './observe/traces/trace-requests.ts';
import { traceVerdicts } from './observe/traces/trace-verdicts.ts';
import {
  combineObservers,
  type DoorName,
  observeCheck,
  type VerdictObserver,
} from './observe/verdict-observer.ts';
import { createRouter } from './router.ts';
import { KeyRing, type KeyRingSource } from './session/key-ring.ts';
import { RenewalBudget } from './session/renewal/renewal-budget.ts';
import { Renewals } from './session/renewal/renewals.ts';
import { createCookieSettings } from './session/session-cookie.ts';
import type { SessionStore } from './session/session-store.ts';
import { type SessionLifetimes, Sessions } from './session/sessions.ts';
import { startSweeping } from './session/sweep.ts';
import { Attempts } from './sign-in/attempt.ts';
import { createKeptLogouts } from './sign-in/kept-logouts.ts';
import { createRateLimit, type RateLimit } from './sign-in/rate-limit.ts';
import type { Schedule } from './time/schedule.ts';
import type { Tracer } from './trace/tracer.ts';
import { type AccessRules, selectAccessClaims } from './verdict/access.ts';
import { type Check, createCheck } from './verdict/check.ts';
import type { CheckRequest } from './verdict/check-request.ts';
import { selectBearerHeaders } from './verdict/credential.ts';
import { Generation } from './verdict/generation.ts';
import { createSessionVerifier } from './verdict/session-verifier.ts';
import { toUserRecord } from './verdict/user-record.ts';

/** Settings and ports of {@link createAdminServer}. */
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
    /** Put before the subject of whoever signs in, see `IssuerSettings.subjectPrefix`. */
    readonly subjectPrefix: string;
  };
  readonly access: AccessRules;
  readonly claimHeaders: readonly string[];
  readonly stripHeaders: readonly string[];
  readonly idpQueryParameter: string;
  readonly rateLimitPerMinute: number;
  /** `doors.me.verdictCache`; 0 by default: a proxy may keep nothing. */
  readonly verdictCacheMs?: number;
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
  /** Told of every verdict that a door asks for. */
  readonly onVerdict?: VerdictObserver | undefined;
  /** Absent where nothing is traced: then nothing of it stands in the way of a request. */
  readonly tracer?: Tracer | undefined;
}

/** One request as the embedded gateway asks about it. */
export interface GateRequest extends CheckRequest {
  /** Path and query of the original request. */
  readonly target: string;
  readonly requestId: string;
}

/** The running authentication, without a listener of its own. */
export interface AdminServer {
  /**
   * Serves `/me`, `/login`, `/callback`, `/logout`, the own paths, discovery, the identity service and
   * health; verifies the caller of everything else.
   */
  readonly handler: HttpHandler;
  /** The verdict, for doors of further services in this process. */
  readonly check: Check;
  /** The verdict, shaped for whoever asks: what the embedded gateway calls. */
  readonly answer: (request: GateRequest) => Answer | Promise<Answer>;
  readonly backendHeaders: BackendHeaderPolicy;
  isReady(): boolean;
  /** What these parts wait for, whatever the process does. */
  readonly waitingFor: WaitingFor;
  /**
   * Whether what decisions need is known, by its name: `key_ring` for the keys of cookies, read now if they
   * were not yet; of what the IdPs have to tell `identity_provider`, `keys <issuer>` for each whose bearer
   * tokens are accepted, `metadata <issuer>` for what clients are told.
   */
  knowledge(): ReadonlyMap<string, boolean>;
  /** How things stand; for metrics. */
  readonly readings: () => ServerReadings;
  /** Ends calls that would go on for ever; to be called when the listener begins to close. */
  readonly stopping: () => void;
  /**
   * Begins no renewal any more, and resolves when none is under way: for parts that were replaced, in a process that
   * goes on. An IdP that stands still is listened to for ten minutes.
   */
  settle(): Promise<void>;
  /** Lets renewals under way come to their end, within seconds: what they brought may be the only token that works. */
  close(): Promise<void>;
}

/** A renewal that takes longer when the process ends is given up, as one of a process that was killed. */
const SETTLE_MS = 15_000;
/** More would only wait for each other at the IdP. */
const RENEWALS_AT_ONCE = 16;
/**
 * More than there can be: of those at once each is late after a minute, and given up after ten. A bound all the
 * same, since each is a connection and a lease that is prolonged.
 */
const RENEWALS_LISTENING = 256;
/** An id like any other; what the store answers does not matter. */
const NO_SESSION = 0;
/** Steps of {@link random}. */
const RANDOM_STEPS = 2 ** 32;

/**
 * Puts the parts together. Asks the store once, and starts nothing but a sweep of ended sessions, after three
 * seconds and then once a minute.
 */
export function createAdminServer(options: AdminServerOptions): AdminServer {
  const { publicUrl, store, relyingParty, now, schedule, log, audit } = options;
  const publicOrigin = publicUrl.origin;
  const cookies = createCookieSettings(publicUrl, options.cookie.sameSite, options.cookie.domain);
  const generation = new Generation();
  let isRingKnown = false;
  const ring = new KeyRing(options.keyRing, {
    now,
    onChange: (change) => {
      generation.bump();
      const read = isRingKnown ? 'file_changed' : 'first_use';
      const reason = change === 'key_ended' ? change : read;
      isRingKnown = true;
      audit({ event: 'key_ring_loaded', ...NOBODY, session: undefined, ...NO_REQUEST, reason });
    },
    onProblem: (cause) => log('error', 'key_ring_unreadable', { failure: describeFailure(cause) }),
  });
  const sessions = new Sessions({ store, ring, now, lifetimes: options.lifetimes });
  const clientAddress = createClientAddress(options.trustedProxies);
  const originOf = createOriginReader(clientAddress);
  const turns = createRateLimit(options.rateLimitPerMinute, now);
  const rateLimit: RateLimit = (key, takes) => {
    const turn = turns(key, takes);
    if (!turn.ok) log('debug', 'rate_limited');
    return turn;
  };
  const bearerHeaders = selectBearerHeaders(options.bearer);
  const access = () => options.access;
  const { claimHeaders } = options;
  const onOutage = (cause: unknown) =>
    log('error', 'verdict_undecided', { failure: describeFailure(cause) });
  const bearer = createBearerVerifier({
    settings: options.bearer.accepts,
    issuers: options.issuers,
    fetch: createIssuerFetch(options),
    access,
    claimHeaders,
    generation,
    now,
    schedule,
    onKeysLoaded: (issuer, ignored) => log('info', 'issuer_keys_read', { issuer, ignored }),
    onFailure: (issuer, cause) =>
      log('warn', 'issuer_unavailable', { issuer, failure: describeFailure(cause) }),
  });
  const verifier = createSessionVerifier({
    cookies,
    sessions,
    store,
    ring,
    generation,
    access,
    claimHeaders,
    subjectPrefix: options.bearer.subjectPrefix,
    now,
    onOutage,
  });
  const renewals = new Renewals({
    store,
    ring,
    tokens: relyingParty,
    budget: new RenewalBudget({
      now,
      random,
      perSecond: options.renewalsPerSecond,
      atOnce: RENEWALS_AT_ONCE,
      listening: RENEWALS_LISTENING,
    }),
    limits: options.lifetimes,
    keepClaims: (claims) => ({
      user: toUserRecord(claims, claimHeaders, access().emailTrusted),
      claims: selectAccessClaims(claims, access()),
    }),
    now,
    schedule,
    random,
    onChanged: (id) => verifier.forget(id),
    originOf,
    log,
    audit,
    tracer: options.tracer,
  });
  const check = createCheck({
    publicOrigin,
    credentials: { sessionCookieName: cookies.sessionName, bearerHeaders },
    sessions: verifier,
    renewals,
    bearer,
    onOutage,
  });
  const observer = combineObservers(
    auditBearers(audit, originOf),
    options.onVerdict,
    traceVerdicts(options.tracer),
  );
  const checkAt = (door: DoorName) => observeCheck(check, door, observer);
  const me = createMeDoor({
    check: checkAt('me'),
    publicOrigin,
    verdictCache: createVerdictCache(options.verdictCacheMs ?? 0, now),
  });
  const checkAtGateway = checkAt('gateway');
  const readiness = options.readiness ?? new Readiness();
  const { waitingFor, isReady } = readiness.watch({
    isIdpKnown: () => relyingParty.isReady(),
    isKeyRingKnown: () => ring.isKnown(),
    askStore: () => store.endReason(NO_SESSION),
  });
  if (options.readiness === undefined) readiness.follow(waitingFor);
  const keptLogouts = createKeptLogouts({ schedule, now, log });
  const router = createRouter({
    signIn: {
      redirects: {
        publicOrigin,
        redirectOrigins: new Set(options.redirectOrigins),
        landing: new URL(options.landing, publicOrigin).href,
      },
      cookies,
      check,
      sessions,
      store,
      ring,
      attempts: new Attempts({ ring, cookies, now }),
      relyingParty,
      keptLogouts,
      access,
      claimHeaders,
      idpQueryParameter: options.idpQueryParameter,
      isProtectedPath: (path) => options.matchRoute(path, 'http').protected,
      log,
      audit,
    },
    checkStatus: checkAt('status'),
    clientKeys: options.clientKeys,
    clientAddress,
    countsAddresses: options.trustedProxies.length > 0,
    rateLimit,
    waitingFor: readiness.waitingFor,
    now,
    log,
  });
  const health = {
    waitingFor: readiness.waitingFor,
    schedule,
    stopping: readiness.stopping,
  };
  const front = createApplicationHandler({
    auth: {
      check: checkAt('service'),
      publicOrigin,
      matchRoute: options.matchRoute,
      metadata: options.metadata,
    },
    health,
    router,
    log,
  });
  const sweeping = startSweeping({ store, schedule, log });

  return {
    handler: traceRequests((req, res) => {
      if (!me(req, res)) front(req, res);
    }, options.tracer),
    check,
    stopping() {
      readiness.stop();
      renewals.stop();
    },
    answer(request) {
      const verdict = checkAtGateway(request);
      const caller = {
        kind: classifyCaller(request),
        accept: request.headers.accept,
        target: request.target,
        requestId: request.requestId,
      };
      return verdict instanceof Promise
        ? verdict.then((decided) => shapeAnswer(decided, caller, publicOrigin))
        : shapeAnswer(verdict, caller, publicOrigin);
    },
    backendHeaders: {
      bearerHeaders: new Set([...bearerHeaders.http, ...bearerHeaders.grpc, 'authorization']),
      stripHeaders: new Set(options.stripHeaders),
      isSessionCookie: (name) => name === cookies.sessionName,
      isAttemptCookie: (name) => cookies.attemptNames.includes(name),
    },
    isReady: () => relyingParty.isReady(),
    waitingFor,
    knowledge: () =>
      new Map([
        ['identity_provider', relyingParty.isReady()],
        ['key_ring', ring.isKnown()],
        ...[...bearer.issuers()].map(([issuer, hasKeys]) => [`keys ${issuer}`, hasKeys] as const),
        ...[options.metadata.authorizationServer, options.metadata.signInServer].map(
          ({ issuer, current }) => [`metadata ${issuer}`, current !== undefined] as const,
        ),
      ]),
    readings() {
      // Also where nobody has asked for a key yet.
      ring.poll();
      return {
        isReady: isReady(),
        sealsSince: ring.sealsSince,
        issuerKeys: bearer.keySets(),
        remembered: { sessions: verifier.remembered(), tokens: bearer.remembered() },
      };
    },
    async settle() {
      renewals.stop();
      await renewals.settle();
    },
    async close() {
      sweeping.stop();
      keptLogouts.close();
      renewals.stop();
      const { promise: timeUp, resolve } = Promise.withResolvers<void>();
      const cancel = schedule(SETTLE_MS, resolve);
      await Promise.race([renewals.settle(), timeUp]);
      cancel();
      bearer.close();
      relyingParty.close();
      options.issuers.close();
      store.close();
    },
  };
}

function random(): number {
  return randomBytes(4).readUInt32BE() / RANDOM_STEPS;
}
