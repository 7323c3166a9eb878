/**
 * The admin service's authentication, put together from settings and ports.
 *
 * @module
 */

import type { AdminServerOptions } from './admin-server-options.ts';
import type { BackendHeaderPolicy } from './answer/backend-headers.ts';
import { createAsk } from './ask.ts';
import { createOriginReader } from './audit/audit-origin.ts';
import { requireTrustedProxies } from './doors/door.ts';
import { type GatewayHandler, gatewayDoor } from './doors/gateway.ts';
import { HTTP_DOORS } from './doors/http-doors.ts';
import { createFrontPart, type ListenerHandlers } from './front-part.ts';
import { Readiness, type WaitingFor } from './health/readiness.ts';
import { createClientAddress } from './listener/client-address.ts';
import { createMetadataPart } from './metadata-part.ts';
import type { ServerReadings } from './observe/metrics/metrics.ts';
import { createRouter } from './router.ts';
import { startSweeping } from './session/sweep.ts';
import { createSessionPart, type SessionPart } from './session-part.ts';
import { createSignInPart } from './sign-in-part.ts';
import { createVerdictPart, type VerdictPart } from './verdict-part.ts';

/** The running authentication, without a listener of its own. */
export interface AdminServer {
  /**
   * What each listener serves. `http`: the doors, `/login`, `/callback`, `/logout`, the own paths, discovery, the
   * identity service and health; the caller of everything else is verified.
   */
  readonly handlers: ListenerHandlers;
  /** The verdict, shaped for the caller of the original request: what the embedded gateway calls. */
  readonly answer: GatewayHandler;
  /** Names of all doors that ask for verdicts; for metrics. */
  readonly doorNames: ReadonlySet<string>;
  readonly backendHeaders: BackendHeaderPolicy;
  isReady(): boolean;
  /** What these parts wait for, whatever the process does. */
  readonly waitingFor: WaitingFor;
  /**
   * Whether what decisions need is known, by its name: `key_ring` for the keys of cookies, read now if they
   * were not yet; of what the IdPs publish `identity_provider`, `keys <issuer>` for each whose bearer
   * tokens are accepted, `metadata <issuer>` for what is served to clients.
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

/** An id like any other; what the store answers does not matter. */
const NO_SESSION = 0;

/**
 * Puts the parts together. Asks the store once, and starts nothing but a sweep of ended sessions, after three
 * seconds and then once a minute.
 *
 * @throws {SallyportError} `SP_CONFIG_INVALID` when a door needs forwarded headers and no proxy is trusted.
 */
export function createAdminServer(options: AdminServerOptions): AdminServer {
  const { store, relyingParty, schedule, log, audit, tracer } = options;
  requireTrustedProxies(options.doors ?? HTTP_DOORS, options.trustedProxies);
  const clientAddress = createClientAddress(options.trustedProxies);
  const originOf = createOriginReader(clientAddress);
  const session = createSessionPart(options);
  const verdict = createVerdictPart(options, session, originOf);
  const { check, renewals } = verdict;
  const { ask, doorNames } = createAsk({
    check,
    audit,
    originOf,
    onVerdict: options.onVerdict,
    tracer,
  });
  const readiness = options.readiness ?? new Readiness();
  const watched = readiness.watch({
    isIdpKnown: () => relyingParty.isReady(),
    areIssuerKeysKnown: () => verdict.bearer.isAble(),
    isKeyRingKnown: () => session.ring.isKnown(),
    askStore: () => store.endReason(NO_SESSION),
  });
  if (options.readiness === undefined) readiness.follow(watched.waitingFor);
  const { waitingFor, stopping } = readiness;
  const signIn = createSignInPart(options, session, check, ask);
  const handlers = createFrontPart(options, {
    ask,
    clientAddress,
    metadata: createMetadataPart(options.metadata, { waitingFor, schedule, stopping }, log),
    router: createRouter({ signIn: signIn.routes, clientAddress, waitingFor, log }),
  });
  const answer = gatewayDoor.handler({
    check: ask(gatewayDoor),
    publicOrigin: options.publicUrl.origin,
  });
  const sweeping = startSweeping({ store, schedule, log });

  return {
    handlers,
    answer,
    doorNames,
    backendHeaders: selectHeaderPolicy(options, session, verdict),
    isReady: () => relyingParty.isReady(),
    waitingFor: watched.waitingFor,
    knowledge: () => listKnowledge(options, session, verdict),
    readings: () => readServer(session, verdict, watched.isReady),
    stopping() {
      readiness.stop();
      renewals.stop();
    },
    async settle() {
      renewals.stop();
      await renewals.settle();
    },
    async close() {
      sweeping.stop();
      signIn.close();
      await verdict.close();
      relyingParty.close();
      options.issuers.close();
      store.close();
    },
  };
}

function selectHeaderPolicy(
  { stripHeaders }: AdminServerOptions,
  { cookies }: SessionPart,
  { bearerHeaders }: VerdictPart,
): BackendHeaderPolicy {
  return {
    bearerHeaders: new Set([...bearerHeaders.http, ...bearerHeaders.grpc, 'authorization']),
    stripHeaders: new Set(stripHeaders),
    isSessionCookie: (name) => name === cookies.sessionName,
    isAttemptCookie: (name) => cookies.attemptNames.includes(name),
  };
}

function listKnowledge(
  { relyingParty, metadata }: AdminServerOptions,
  { ring }: SessionPart,
  { bearer }: VerdictPart,
): ReadonlyMap<string, boolean> {
  return new Map([
    ['identity_provider', relyingParty.isReady()],
    ['key_ring', ring.isKnown()],
    ...[...bearer.issuers()].map(([issuer, hasKeys]) => [`keys ${issuer}`, hasKeys] as const),
    ...[metadata.authorizationServer, metadata.signInServer].map(
      ({ issuer, current }) => [`metadata ${issuer}`, current !== undefined] as const,
    ),
  ]);
}

function readServer(
  { ring }: SessionPart,
  { bearer, verifier }: VerdictPart,
  isReady: () => boolean,
): ServerReadings {
  // Also where no request has needed a key yet.
  ring.poll();
  return {
    isReady: isReady(),
    sealsSince: ring.sealsSince,
    issuerKeys: bearer.keySets(),
    remembered: { sessions: verifier.remembered(), tokens: bearer.remembered() },
  };
}
