/**
 * `sallyport init`: from a domain and an issuer to a folder that can be run.
 *
 * @module
 */

import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { formatConfigProblem } from '@sallyport/config';
import { type FileTerms, readBoundedFile } from '@sallyport/config/files';
import { PART_PROBES } from '@sallyport/doctor';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { RECIPES } from '@sallyport/recipes';
import { type Installation, planInstallation } from '../init/installation.ts';
import {
  describePresent,
  describeStart,
  here,
  reportEnd,
  reportInstallation,
} from '../init/report-installation.ts';
import { writeInstallation } from '../init/write-installation.ts';
import type { Interruption } from '../process/interruption.ts';
import { ask, type Question } from '../terminal/question.ts';
import { type ExitCode, type Failure, reportFailure } from '../terminal/report.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';
import { type DoctorOptions, doctor } from './doctor.ts';

/** Options of the command line. */
export interface InitOptions {
  readonly publicUrl?: string;
  readonly issuer?: string;
  readonly proxy?: string;
  readonly proxyFolder?: string;
  readonly port: number;
  readonly webClientId: string;
  readonly nativeClientId: string;
  readonly serviceClientId: string;
  readonly clientSecretFile?: string;
  readonly caFile?: string;
  readonly offline?: boolean;
  readonly json?: boolean;
}

const NO_PROXY = 'none';
const SECRET_TERMS: FileTerms = { maxBytes: 4_096, mayBeLink: true, owner: 'any_user' };

/** What `--proxy` takes. */
const PROXIES: readonly string[] = [...RECIPES.map(({ name }) => name), NO_PROXY];

/**
 * Writes the folder, then has the doctor look at it. What is not given is asked for on a terminal. Writes over nothing.
 *
 * The doctor asks nothing of the platform, which is not running yet, and does not look for a secret that is still to be written:
 * neither is a fault.
 *
 * @returns 0 once the folder is written, whatever the doctor finds: the identity provider may not be set up yet. 130 where the
 *   doctor was interrupted; the folder stays.
 */
export async function init(
  folder: string,
  options: InitOptions,
  stdio: Stdio,
  interruption: Interruption,
): Promise<ExitCode> {
  const isJson = options.json === true;
  const planned = await plan(folder, options, stdio, interruption);
  if (!planned.ok) return reportFailure(planned.error, isJson, stdio);
  const secret = readSecret(options.clientSecretFile);
  if (!secret.ok) return reportFailure(secret.error, isJson, stdio);
  const written = write(planned.value, secret.value);
  if (!written.ok) return reportFailure(written.error, isJson, stdio);
  const { configFile, register, secrets } = planned.value;
  const [web] = secrets;
  const hasSecret = web === undefined || existsSync(web.file);
  const next = describeNextSteps(planned.value, hasSecret);
  const doctorOptions: DoctorOptions = {
    config: configFile,
    postponed: new Map([
      [PART_PROBES.platform, 'not running yet'],
      ...(hasSecret ? [] : [[PART_PROBES.webSecret, 'not written yet'] as const]),
    ]),
    ...(options.caFile === undefined ? {} : { caFile: options.caFile }),
    ...(options.offline === true ? { offline: true } : {}),
  };
  const end = (): ExitCode => (interruption.signal.aborted ? EXIT.interrupted : EXIT.ok);
  if (!isJson) {
    for (const line of reportInstallation(planned.value, written.value, next)) stdio.out(line);
    for (const line of ['', 'What the doctor says of it now:', '']) stdio.out(line);
    await doctor('', doctorOptions, stdio, interruption);
    const last = reportEnd(planned.value, hasSecret, describeStart(planned.value));
    for (const line of ['', ...last]) stdio.out(line);
    return end();
  }
  const found: string[] = [];
  const collecting: Stdio = { ...stdio, out: (line) => found.push(line) };
  await doctor('', { ...doctorOptions, json: true }, collecting, interruption);
  stdio.out(
    JSON.stringify({
      ok: true,
      folder: resolve(folder),
      files: written.value.map(here),
      register,
      next,
      doctor: parse(found.join('\n')),
    }),
  );
  return end();
}

async function plan(
  folder: string,
  options: InitOptions,
  stdio: Stdio,
  { signal }: Interruption,
): Promise<Result<Installation, Failure>> {
  const given = [options.publicUrl, options.issuer, options.proxy];
  const questions: readonly Question[] = [
    { text: 'Address of the platform, such as https://platform.example.com' },
    { text: 'Issuer of the identity provider, such as https://idp.example.com/realms/platform' },
    { text: `Reverse proxy (${PROXIES.join(', ')})`, fallback: PROXIES[0] ?? NO_PROXY },
  ];
  const open = questions.filter((_, index) => given[index] === undefined);
  const mayAsk = stdio.isInteractive && options.json !== true;
  // A proxy has a default; without a terminal the other two have to be given.
  if (!mayAsk && (options.publicUrl === undefined || options.issuer === undefined))
    return usage('--public-url and --issuer are needed where no terminal can be asked');
  const ports = { input: process.stdin, output: process.stderr, signal };
  const answers = [...(mayAsk ? await ask(open, ports) : [])];
  if (mayAsk && answers.length < open.length) return usage('the questions were not answered');
  const [domain = '', issuer = '', proxy = PROXIES[0] ?? NO_PROXY] = given.map(
    (value) => value ?? answers.shift(),
  );
  if (!PROXIES.includes(proxy)) return usage(`--proxy: expected one of ${PROXIES.join(', ')}`);
  if (proxy === NO_PROXY && options.proxyFolder !== undefined)
    return usage('--proxy-folder: expected a proxy beside it');
  const { webClientId: web, nativeClientId: native, serviceClientId: service } = options;
  const planned = await planInstallation({
    folder: resolve(folder),
    domain,
    issuer,
    clientIds: { web, native, service },
    recipe: RECIPES.find(({ name }) => name === proxy),
    proxyFolder: options.proxyFolder === undefined ? undefined : resolve(options.proxyFolder),
    port: options.port,
  });
  if (planned.ok) return planned;
  return usage(
    planned.error
      .map((problem) => formatConfigProblem({ ...problem, file: 'given', line: undefined }))
      .join('; '),
  );
}

function readSecret(file: string | undefined): Result<string | undefined, Failure> {
  if (file === undefined) return accept(undefined);
  const read = readBoundedFile(file, SECRET_TERMS);
  if (!read.ok) return usage(`--client-secret-file: found ${read.error.found}, expected a file`);
  const secret = read.value.replace(/\r?\n$/, '');
  return secret === '' ? usage('--client-secret-file: the file is empty') : accept(secret);
}

function write(
  installation: Installation,
  secret: string | undefined,
): Result<readonly string[], Failure> {
  try {
    const written = writeInstallation(installation, secret, Date.now());
    if (written.ok) return written;
    const folder = dirname(installation.configFile);
    return fail(
      'out_not_empty',
      describePresent(folder, written.error),
      'Name another folder, or remove them.',
    );
  } catch (error) {
    if (error instanceof Error && error.name === 'SallyportError') throw error;
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    return fail(
      'out_unusable',
      `the folder cannot be written${code}`,
      'Name a folder that this user can write.',
    );
  }
}

function describeNextSteps(
  { configFile, secrets, publicUrl, issuer, recipe }: Installation,
  hasSecret: boolean,
): readonly string[] {
  const [web] = secrets;
  const config = shellWord(here(configFile));
  const start = describeStart({ configFile });
  const setUp = [
    'sallyport idp apply --provider keycloak',
    `--public-url ${shellWord(publicUrl)}`,
    `--issuer ${shellWord(issuer)}`,
    `--out ${shellWord(here(resolve(configFile, '../secrets')))}`,
  ].join(' ');
  return [
    ...(hasSecret || web === undefined
      ? []
      : [
          `put the secret of ${web.clientId} into ${here(web.file)}${/\/realms\/[^/]+$/.test(issuer) ? `, or have it written: ${setUp}` : ''}`,
        ]),
    `sallyport serve --check --online --config ${config}`,
    start.serve,
    ...(recipe === undefined
      ? []
      : recipe.next.map((step) => `${here(dirname(recipe.folder))}: ${step}`)),
    start.doctor,
  ];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function fail(error: string, description: string, hint: string): Result<never, Failure> {
  return refuse({ error, description, hint, exitCode: EXIT.failure });
}

function usage(description: string): Result<never, Failure> {
  return refuse({
    error: 'usage',
    description,
    hint: 'sallyport init --help',
    exitCode: EXIT.usage,
  });
}
