/**
 * `sallyport up --platform`: the platform's services around the plane, each a process of its own.
 *
 * @module
 */

import { join } from 'node:path';
import type { EmbeddedIdp } from '@sallyport/idp';
import { accept, encodeApiKey, type RouteGroup, SallyportError } from '@sallyport/protocol';
import { ACTORS, type Actor, type ActorName } from '../../../../../examples/platform/actors.ts';
import { watchFile } from '../../admin/watch-file.ts';
import type { ActorView, PlatformView } from '../../console/platform-view.ts';
import { systemSchedule } from '../../process/system-schedule.ts';
import { CLIENT_IDS } from '../deployment.ts';
import { readContainerEnvironment } from './container-environment.ts';
import { type PodFiles, writePodFolders } from './pod-folders.ts';
import { type SupervisedActor, superviseActor } from './supervise-actor.ts';

/** The plane that the platform stands around. */
export interface PlaneOfPlatform {
  readonly stateDirectory: string;
  readonly publicUrl: string;
  /** The same port over TLS. */
  readonly httpsUrl: string;
  readonly caFile: string;
  readonly issuer: string;
  readonly idp: EmbeddedIdp;
}

/** The running platform. */
export interface Platform {
  readonly folder: string;
  readonly view: () => PlatformView;
  readonly findService: FindService;
  stop(): Promise<void>;
}

/**
 * Finds where a service accepts calls: no origin while it does not run, and `undefined` for one that is no part of the
 * platform.
 */
export type FindService = (
  backend: string,
  transport: RouteGroup['transport'],
) => { readonly origin: string | undefined } | undefined;

/** Whom the API key of the task pod is for. */
const KEY_OWNER = { organization: 'example', cluster: 'this-machine' };
/** The namespace of the data plane has opted in. */
const NAMESPACE_LABELS = { 'sallyport/api-key-injection': 'true' };
/** What a Kubernetes pod has in its environment. */
const IN_A_POD = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };

/** Writes the pods' files and starts the services. The gateway has to listen already. */
export async function startPlatform(plane: PlaneOfPlatform): Promise<Platform> {
  const folder = join(plane.stateDirectory, 'platform');
  const { host, hostname, port } = new URL(plane.httpsUrl);
  const files = writePodFolders(folder, {
    endpoint: `dns:///${host}`,
    caFile: plane.caFile,
    tokenUrl: plane.idp.tokenUrl,
    clientId: CLIENT_IDS.service,
    clientSecretFile: plane.idp.serviceClientSecretFile,
    apiKey: await issueApiKey(plane.idp, hostname),
  });
  const compiled = compileCache();
  // The task pod has no file that could name the authority; in a cluster it needs none.
  const inPod = { ...IN_A_POD, ...compiled, NODE_EXTRA_CA_CERTS: plane.caFile };
  const start = {
    publicUrl: plane.publicUrl,
    issuer: plane.issuer,
    namespaceLabels: NAMESPACE_LABELS,
    ingressPort: Number(port === '' ? '443' : port),
  };
  const supervised = new Map<ActorName, SupervisedActor>();
  const unwatch: (() => void)[] = [];
  let pod: string | undefined;
  for (const { name } of ACTORS) superviseService(name);

  return {
    folder,
    view: () => ACTORS.map((actor) => viewOf(actor, filesOf(files, actor.name), supervised)),
    findService(backend, transport) {
      const actor = ACTORS.find(({ name, accepts }) => accepts && name === backend);
      if (actor === undefined) return undefined;
      const ports = supervised.get(actor.name)?.state().ports;
      const port = transport === 'grpc' ? ports?.grpc : ports?.http;
      return { origin: port === undefined ? undefined : `http://127.0.0.1:${port}` };
    },
    async stop() {
      for (const end of unwatch) end();
      await Promise.all([...supervised.values()].map((actor) => actor.stop()));
    },
  };

  /** All but the task pod, which the executor makes. */
  function superviseService(name: ActorName): void {
    const { configFile, logFile } = filesOf(files, name);
    if (configFile === undefined) return;
    const actor = superviseActor({
      start: { ...start, actor: name, configFile },
      environment: () => accept(compiled),
      logFile,
      onPod: placePod,
    });
    supervised.set(name, actor);
    const onChange = (): void => actor.restart();
    unwatch.push(watchFile({ path: configFile, schedule: systemSchedule, onChange }));
  }

  /** The executor makes its pod at each of its starts; another one than before replaces that. */
  function placePod(made: object): void {
    const text = JSON.stringify(made);
    const isSame = text === pod;
    pod = text;
    const running = supervised.get('task-pod');
    if (running !== undefined) {
      if (!isSame) running.restart();
      return;
    }
    const { logFile } = filesOf(files, 'task-pod');
    const environment = () => {
      const own = readContainerEnvironment(folder, JSON.parse(pod ?? '{}'));
      return own.ok ? accept({ ...own.value, ...inPod }) : own;
    };
    const actor = superviseActor({
      start: { ...start, actor: 'task-pod' },
      environment,
      logFile,
      onPod: () => {},
    });
    supervised.set('task-pod', actor);
  }
}

/** One key at a time: those of earlier starts are revoked. */
async function issueApiKey({ apiKeys }: EmbeddedIdp, host: string): Promise<string> {
  for (const { clientId, organization, cluster } of await apiKeys.list())
    if (organization === KEY_OWNER.organization && cluster === KEY_OWNER.cluster)
      await apiKeys.revoke(clientId);
  const issued = await apiKeys.create(KEY_OWNER);
  const key = issued.ok ? encodeApiKey({ ...issued.value, host }) : issued;
  if (key.ok) return key.value;
  throw new SallyportError('SP_CONFIG_INVALID', {
    component: 'up',
    detail: `no API key for the task pod (${key.error}); "sallyport apikey revoke" makes room`,
  });
}

function viewOf(
  { name, plane, block, calls }: Actor,
  { folder, secret, secretFile, logFile }: PodFiles,
  supervised: ReadonlyMap<ActorName, SupervisedActor>,
): ActorView {
  const state = supervised.get(name)?.state();
  const report = state?.report;
  const isFailing = report?.failure !== undefined;
  const isCalling = report !== undefined && !isFailing;
  // A start that ended the same way before is no news until its first call: the state stays.
  const isStartedAgain =
    report === undefined && state?.lastError !== undefined && state.lastError.until === undefined;
  const isWaiting = state !== undefined && (!state.isRunning || isStartedAgain);
  return {
    ...calls,
    folder,
    secret,
    secretFile,
    logFile,
    name,
    plane,
    readsFrom: block ?? 'EAGER_API_KEY',
    state: isWaiting ? 'waiting' : isFailing ? 'failing' : isCalling ? 'calling' : 'starting',
    clientId: report?.clientId,
    knownAs: report?.knownAs,
    tokenEndsAt: report?.tokenEndsAt,
    tokenSince: report?.tokenSince,
    admitted: report?.admitted ?? 0,
    withoutToken: report?.withoutToken,
    starts: state?.starts ?? 0,
    startsAgainAt: state?.startsAgainAt,
    lastError: state?.lastError,
  };
}

function filesOf(files: ReadonlyMap<ActorName, PodFiles>, name: ActorName): PodFiles {
  const found = files.get(name);
  if (found === undefined) throw new TypeError(`no files for ${name}`);
  return found;
}

/** Ten processes that load the same code need to compile it once. */
function compileCache(): Readonly<Record<string, string>> {
  const { NODE_COMPILE_CACHE: folder } = process.env;
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}
