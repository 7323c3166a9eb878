/**
 * An actor at work: it calls its peer every two seconds, with a token that is kept fresh.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import {
  type Client,
  type ClientSettings,
  createClient,
  loadClientSettings,
  TokenRefusedError,
} from '@sallyport/client';
import { createAuthenticatingInterceptor } from '@sallyport/client/connect';
import { formatConfigProblem } from '@sallyport/config';
import { createActorLog, type LogEvent } from './actor-log.ts';
import { ACTORS, type Actor } from './actors.ts';
import { CallRefusedError, createPeerCall } from './call-peer.ts';
import type { ActorReport, FromActor, StartActor } from './messages.ts';

const CALL_EVERY_MS = 2_000;
/** Calls for which a peer may be absent, because it starts at the same time. */
const PATIENT_CALLS = 5;

/** Runs until the process ends. A configuration that cannot be used ends it with 1, and so does what a start needs. */
export async function runActor(start: StartActor): Promise<void> {
  const actor = ACTORS.find(({ name }) => name === start.actor);
  if (actor === undefined) throw new TypeError(`no actor has the name ${start.actor}`);
  const log = createActorLog(actor.name);
  try {
    await prepareAndCall(actor, start, log);
  } catch (failure) {
    const cause = describe(failure);
    log('error', 'ending', { cause });
    process.send?.({ kind: 'ending', cause } satisfies FromActor, () => process.exit(1));
  }
}

async function prepareAndCall(actor: Actor, start: StartActor, log: LogEvent): Promise<never> {
  const { configFile: path } = start;
  const file = path === undefined ? undefined : { path, text: readFileSync(path, 'utf8') };
  const loaded = loadClientSettings({
    env: process.env,
    flags: {},
    ...(file === undefined ? {} : { file }),
    ...(actor.block === undefined ? {} : { block: actor.block }),
  });
  if (!loaded.ok) throw new StartError(loaded.error.map(formatConfigProblem).join('; '));
  const { settings, warnings } = loaded.value;
  for (const warning of warnings)
    log('warn', 'configuration', { problem: formatConfigProblem(warning) });
  if (settings.caCertFilePath !== '') trust(settings.caCertFilePath);
  if (actor.name === 'scheduler' && file !== undefined) {
    const { findMissingMount } = await import('./scheduler-secret.ts');
    const cause = findMissingMount(file, settings.clientSecret);
    if (cause !== undefined) throw new StartError(cause);
  }
  if (actor.accepts) {
    const { ports } = await openPeer(actor, start, log);
    send({ kind: 'listening', ...ports });
  }
  if (actor.name === 'executor' && file !== undefined) {
    const { makeTaskPod } = await import('./task-pod.ts');
    const made = makeTaskPod(file, start.namespaceLabels);
    if (!made.ok) throw new StartError(`the task pod cannot be made: ${made.error}`);
    const { pod, ...outcome } = made.value;
    log('info', 'task_pod_made', outcome);
    send({ kind: 'pod', pod });
  }
  const reach = actor.name === 'task-pod' ? fetchAtPort(start.ingressPort) : fetch;
  return await callForEver(actor, settings, reach, log);
}

/** For all connections of this process, of which all go to the platform and its identity provider. */
function trust(path: string): void {
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(path, 'utf8')]);
}

async function openPeer({ name }: Actor, start: StartActor, log: LogEvent) {
  const [{ acceptCalls }, { PING_SERVICES }] = await Promise.all([
    import('./accept-calls.ts'),
    import('./ping-services.ts'),
  ]);
  const [, service] = Object.entries(PING_SERVICES).find(([peer]) => peer === name) ?? [];
  if (service === undefined) throw new TypeError(`${name} serves nothing`);
  return await acceptCalls(service, start, log);
}

async function callForEver(
  actor: Actor,
  settings: ClientSettings,
  reach: typeof fetch,
  log: LogEvent,
): Promise<never> {
  let tokenSince: number | undefined;
  const client = createClient(settings, {
    fetch: reach,
    now: Date.now,
    wait: (ms, signal) => sleep(ms, undefined, { signal }),
    show: () => {},
    onWarning: (warning) => log('warn', 'secret', { problem: formatConfigProblem(warning) }),
    onTokens: () => {
      tokenSince = Date.now();
    },
    refreshesAhead: true,
  });
  const origin = settings.endpoint?.origin ?? '';
  const call = createPeerCall(actor.calls, origin, attach(client, settings));
  const callBare = createPeerCall(actor.calls, origin, { fetch: reach, interceptors: [] });
  const { peer } = actor.calls;
  const clientId = settings.isEnabled ? settings.clientId : undefined;
  let report: ActorReport = {
    kind: 'report',
    clientId,
    tokenEndsAt: undefined,
    tokenSince,
    admitted: 0,
    knownAs: undefined,
    withoutToken: undefined,
    failure: undefined,
  };
  for (let calls = 1; ; calls += 1) {
    const [outcome, withoutToken] = await Promise.all([
      tryCall(call),
      report.withoutToken ?? askWithoutToken(callBare),
    ]);
    if (outcome.isPeerAbsent === true && report.admitted === 0 && calls <= PATIENT_CALLS) {
      await sleep(CALL_EVERY_MS);
      continue;
    }
    const failure =
      outcome.failure === undefined || settings.isEnabled
        ? outcome.failure
        : `${outcome.failure}; union.auth.enable is false, so no token was sent`;
    if (failure !== undefined && failure !== report.failure)
      log('error', 'call_failed', { peer, clientId, failure });
    if (failure === undefined && (report.failure !== undefined || report.admitted === 0))
      log('info', 'call_admitted', { peer, known_as: outcome.knownAs });
    report = {
      ...report,
      failure,
      withoutToken,
      knownAs: outcome.knownAs ?? report.knownAs,
      admitted: report.admitted + (failure === undefined ? 1 : 0),
      tokenEndsAt: client.tokenStatus()?.expiresAt,
      tokenSince,
    };
    send(report);
    await sleep(CALL_EVERY_MS);
  }
}

function attach(client: Client, { endpoint, isEnabled }: ClientSettings) {
  if (!isEnabled) return { fetch: client.fetch, interceptors: [] };
  const interceptor = createAuthenticatingInterceptor({
    source: client.tokenSource,
    endpoint: endpoint?.origin ?? '',
    header: () => client.authorizationHeader(),
  });
  return { fetch: client.fetch, interceptors: [interceptor] };
}

interface CallOutcome {
  readonly knownAs?: string;
  readonly failure?: string;
  /** The gateway let the call in, and there was no peer behind it. */
  readonly isPeerAbsent?: boolean;
}

/** What the gateway answers in place of a peer. */
const ABSENT: ReadonlySet<string> = new Set(['404', '502', '503', 'unimplemented', 'unavailable']);

async function tryCall(call: () => Promise<string>): Promise<CallOutcome> {
  try {
    return { knownAs: await call() };
  } catch (failure) {
    const isPeerAbsent = failure instanceof CallRefusedError && ABSENT.has(failure.status);
    return { failure: describe(failure), isPeerAbsent };
  }
}

/** How the peer answers without a token; `undefined` when it did not answer. */
async function askWithoutToken(call: () => Promise<string>): Promise<string | undefined> {
  try {
    await call();
    return 'admitted';
  } catch (failure) {
    return failure instanceof CallRefusedError ? failure.status : undefined;
  }
}

/** A cause for which a start fails. */
class StartError extends Error {
  override readonly name = 'StartError';
}

/** In words, without anything secret: messages of the client name files and keys, never values. */
function describe(failure: unknown): string {
  if (failure instanceof TokenRefusedError) return failure.message;
  if (!(failure instanceof Error)) return 'something that is no error was thrown';
  const { cause } = failure;
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return failure.message + code;
}

/**
 * The network of the task pod: an API key names a bare host, which clients call at port 443. In a cluster a Service
 * leads from there to the ingress.
 */
function fetchAtPort(port: number): typeof fetch {
  return (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.protocol === 'https:' && url.port === '') url.port = String(port);
    return fetch(input instanceof Request ? new Request(url, input) : url, init);
  };
}

function send(message: FromActor): void {
  process.send?.(message);
}
