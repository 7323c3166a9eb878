/**
 * `sallyport doctor`: why a sign-in does not work, and what to do about it.
 *
 * @module
 */

import { createOsKeyring } from '@sallyport/client';
import {
  type ClusterSubject,
  createNodeNetwork,
  type Diagnosis,
  diagnose,
  formatJson,
  formatText,
  isWell,
  PROBE_GROUPS,
  type ProbeGroup,
  type Subject,
} from '@sallyport/doctor';
import { API_KEY_VARIABLE, accept, parseDuration, type Result, refuse } from '@sallyport/protocol';
import { createPatientFetch } from '@sallyport/server/issuer';
import { readConfiguration } from '../admin/configuration.ts';
import { readClientSubjects } from '../doctor/client-subjects.ts';
import { createMachineProbes, type Machine, REDIRECT_PORT } from '../doctor/machine-probes.ts';
import { createKubectlCluster, readManifests } from '../doctor/read-cluster.ts';
import { readNginx } from '../doctor/read-nginx.ts';
import type { Interruption } from '../process/interruption.ts';
import { systemSchedule } from '../process/system-schedule.ts';
import { readProfiles } from '../profile/profiles.ts';
import { readSources } from '../profile/sources.ts';
import { endFetchWith } from '../sign-in/ending-fetch.ts';
import { createFetch, findProxy } from '../sign-in/network.ts';
import { type ExitCode, type Failure, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';
import { startWaiting } from '../terminal/waiting-line.ts';
import { wrapLine } from '../terminal/wrap-line.ts';

/** Options of the command line, checked already. */
export interface DoctorOptions {
  readonly config?: string;
  /** Files of clients and services. */
  readonly clientConfig?: readonly string[];
  readonly caFile?: string;
  readonly cluster?: boolean;
  /** A context of kubectl. */
  readonly context?: string;
  /** A file with manifests, in place of a cluster. */
  readonly manifests?: string;
  /** A configuration of nginx. */
  readonly nginx?: string;
  readonly controlPlaneNamespace?: string;
  readonly dataPlaneNamespace?: string;
  readonly only?: readonly ProbeGroup[];
  readonly skip?: readonly ProbeGroup[];
  /** Why probes are not asked yet, by id; of another command, not of the command line. */
  readonly postponed?: ReadonlyMap<string, string>;
  readonly timeout?: string;
  readonly strict?: boolean;
  readonly offline?: boolean;
  readonly json?: boolean;
}

/**
 * Reads the groups of `--only` or `--skip`, joined by commas.
 *
 * @returns Otherwise the groups there are, as words.
 */
export function parseGroups(text: string): Result<readonly ProbeGroup[], string> {
  const names = text.split(',').map((name) => name.trim());
  const groups = names.flatMap((name) => PROBE_GROUPS.filter((group) => group === name));
  return groups.length === names.length ? accept(groups) : refuse(PROBE_GROUPS.join(', '));
}

const TIMEOUT_MS = 60_000;
const PROBE_TIMEOUT_MS = 20_000;
const COLUMNS = 100;

/**
 * Looks at a platform from here and writes what is wrong with it. Repairs nothing.
 *
 * @param url - The platform's public URL; empty: that of the configuration.
 *
 * @returns 0 when nothing is wrong, else 1; warnings count with `strict`. 2 when there is nothing to look at.
 */
export async function doctor(
  url: string,
  options: DoctorOptions,
  stdio: Stdio,
  { signal }: Interruption,
): Promise<ExitCode> {
  const isJson = options.json === true;
  const over = new AbortController();
  const subject = await readSubject(url, options, stdio, over.signal);
  if (!subject.ok) return reportFailure(subject.error, isJson, stdio);
  const timeoutMs = options.timeout === undefined ? TIMEOUT_MS : parseTimeout(options.timeout);
  const diagnosis = await run(subject.value, options, timeoutMs, signal);
  // What a server has not ended by now would keep the process.
  over.abort();
  if (signal.aborted)
    return reportFailure(
      {
        error: 'interrupted',
        description: 'interrupted',
        hint: '',
        exitCode: EXIT.interrupted,
      },
      isJson,
      stdio,
    );
  const isStrict = options.strict === true;
  if (isJson) stdio.out(stdio.cleanse(formatJson(diagnosis, isStrict)));
  else
    for (const line of formatText(diagnosis)) stdio.out(stdio.cleanse(fit(line, stdio.isTerminal)));
  return isWell(diagnosis, isStrict) ? EXIT.ok : EXIT.failure;
}

async function readSubject(
  url: string,
  options: DoctorOptions,
  stdio: Stdio,
  over: AbortSignal,
): Promise<Result<Subject, Failure>> {
  const { config, clientConfig = [], caFile = '', offline = false } = options;
  const isConfigured = config !== undefined || (process.env['OIDC_BASE_URL'] ?? '') !== '';
  const read = isConfigured
    ? readConfiguration(config === undefined ? {} : { config }, process.env)
    : undefined;
  const loaded = read?.ok === true ? read.value : undefined;
  const problems = read?.ok === false ? read.error : [];
  const ofServer = config === undefined ? undefined : { path: config, loaded, problems };
  const clients = readClientSubjects(ofServer, clientConfig, process.env);
  if (!clients.ok) return clients;
  const platformUrl = url === '' ? loaded?.config.publicUrl : url;
  const hasCluster =
    options.cluster === true || options.context !== undefined || options.manifests !== undefined;
  const hasFiles = isConfigured || clientConfig.length > 0 || options.nginx !== undefined;
  if (platformUrl === undefined && !hasFiles && !hasCluster)
    return refuse({
      error: 'usage',
      description: 'there is nothing to look at: give the address of the platform, or --config',
      hint: 'sallyport doctor https://platform.example.com',
      exitCode: EXIT.usage,
    });
  const cluster = readCluster(options);
  if (!cluster.ok) return cluster;
  const nginx = options.nginx === undefined ? accept(undefined) : readNginx(options.nginx);
  if (!nginx.ok) return nginx;
  const network = { caCertFilePath: caFile, insecureSkipVerify: false, endpoint: '' };
  const fetch = await createFetch(
    network,
    process.env,
    stdio.conceal,
    // The runtime's own says of itself that it is no page load, which is another answer.
    () => createPatientFetch(systemSchedule),
  );
  if (!fetch.ok) return fetch;
  return accept({
    now: Date.now,
    network: offline
      ? undefined
      : createNodeNetwork({
          fetch: endFetchWith(over, fetch.value),
          findProxy: (asked) => findProxy(asked, process.env),
        }),
    platformUrl,
    platformSetting: url === '' ? 'publicUrl' : 'the address given',
    server: loaded === undefined ? undefined : { file: config ?? '', loaded },
    problems,
    ...clients.value,
    apiKey: process.env[API_KEY_VARIABLE] ?? '',
    cluster: cluster.value,
    nginx: nginx.value,
    further: isPod(process.env) ? [] : createMachineProbes(describeMachine(process.env)),
  });
}

/** In a pod no person signs in. */
function isPod(environment: NodeJS.ProcessEnv): boolean {
  return (environment['KUBERNETES_SERVICE_HOST'] ?? '') !== '';
}

function describeMachine(environment: NodeJS.ProcessEnv): Machine {
  const sources = readSources({}, environment);
  const profiles = readProfiles(sources, true);
  return {
    environment,
    tokens: sources.folders.tokens,
    profiles: profiles.ok ? profiles.value : undefined,
    port: REDIRECT_PORT,
    openKeyring: createOsKeyring,
  };
}

const CONTROL_PLANE = 'cloud-cp';
const DATA_PLANE = 'cloud';

/** The cluster that the options name; `undefined` without one. */
function readCluster(options: DoctorOptions): Result<ClusterSubject | undefined, Failure> {
  const { cluster = false, context, manifests } = options;
  const { controlPlaneNamespace = CONTROL_PLANE, dataPlaneNamespace = DATA_PLANE } = options;
  if (!cluster && context === undefined && manifests === undefined) return accept(undefined);
  const read =
    manifests === undefined
      ? accept(createKubectlCluster(context ?? ''))
      : readManifests(manifests);
  if (!read.ok) return read;
  return accept({
    cluster: read.value,
    controlPlane: controlPlaneNamespace,
    dataPlane: dataPlaneNamespace,
  });
}

async function run(
  subject: Subject,
  { only = [], skip = [], postponed = new Map(), json = false }: DoctorOptions,
  timeoutMs: number,
  interrupted: AbortSignal,
): Promise<Diagnosis> {
  const isShown = process.stderr.isTTY && !json;
  const line = isShown ? startWaiting(process.stderr, 'looking') : undefined;
  try {
    return await diagnose(subject, {
      only,
      skip,
      postponed,
      schedule: systemSchedule,
      probeTimeoutMs: Math.min(PROBE_TIMEOUT_MS, timeoutMs),
      signal: AbortSignal.any([interrupted, AbortSignal.timeout(timeoutMs)]),
      onProgress: (running, done, total) =>
        line?.update(`${done} of ${total}: ${running.map(({ title }) => title).join(', ')}`),
    });
  } finally {
    line?.end();
  }
}

function parseTimeout(text: string): number {
  const parsed = parseDuration(text);
  return parsed.ok ? parsed.value : TIMEOUT_MS;
}

/** Breaks a line at the width of the terminal; elsewhere it stays one. */
function fit(line: string, isTerminal: boolean): string {
  return isTerminal ? wrapLine(line, process.stdout.columns || COLUMNS) : line;
}
