/**
 * `sallyport idp apply`: sets a deployment up at an identity provider.
 *
 * @module
 */

import { applyKeycloak, planKeycloak } from '@sallyport/idp/provision';
import { describeEmbedded } from '../idp/embedded.ts';
import { mayChange, notPossible } from '../idp/may-change.ts';
import { openKeycloak, openNetwork } from '../idp/open-keycloak.ts';
import { readIssuer } from '../idp/read-issuer.ts';
import { renderSetup, writeRendered } from '../idp/rendered-setup.ts';
import { readSetup, type Setup, type SetupOptions } from '../idp/setup-options.ts';
import { formatPlan } from '../idp/show-plan.ts';
import { createStepRecord, type StepRecord } from '../idp/step-record.ts';
import { assertOwnFolder, type SecretForm, writeDeployment } from '../idp/write-deployment.ts';
import type { Interruption } from '../process/interruption.ts';
import { type ExitCode, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Options of the command line. */
export interface IdpApplyOptions extends SetupOptions {
  readonly yes?: boolean;
  readonly manifests?: boolean;
  readonly controlPlaneSecret: string;
}

/**
 * Sets up what is missing or different, after a question on a terminal, and writes secrets and deployment variables.
 * For a provider that is set up by a configuration of its own tools, writes that configuration. No secret is printed.
 *
 * @returns 130 when it is interrupted; it says then, and after a failure on the way, which steps were done.
 */
export async function applyIdp(
  options: IdpApplyOptions,
  stdio: Stdio,
  interruption: Interruption,
): Promise<ExitCode> {
  const isJson = options.json === true;
  if (options.provider === 'embedded') return describeEmbedded(isJson, stdio);
  const setup = readSetup(options);
  if (!setup.ok) return reportFailure(setup.error, isJson, stdio);
  // Before anything is made that has a secret to write.
  assertOwnFolder(setup.value.folder);
  if (options.provider !== 'keycloak') return writeConfiguration(options, setup.value, stdio);
  const record = createStepRecord();
  try {
    return await applyAtKeycloak(options, setup.value, record, stdio, interruption);
  } catch (error) {
    const failure = record.explain(error, interruption.signal.aborted);
    if (failure === undefined) throw error;
    return reportFailure(failure, isJson, stdio);
  }
}

async function applyAtKeycloak(
  options: IdpApplyOptions,
  setup: Setup,
  record: StepRecord,
  stdio: Stdio,
  { signal }: Interruption,
): Promise<ExitCode> {
  const isJson = options.json === true;
  const opened = await openKeycloak(options, setup, stdio, signal);
  if (!opened.ok) return reportFailure(opened.error, isJson, stdio);
  const plan = await planKeycloak(opened.value);
  const lines = formatPlan(plan);
  if (!isJson) for (const line of lines) stdio.out(line);
  const obstacles = [...plan.problems, ...plan.lacks];
  if (obstacles.length > 0) return reportFailure(notPossible('changed', obstacles), isJson, stdio);
  const network = await openNetwork(options, process.env, stdio, signal);
  if (!network.ok) return reportFailure(network.error, isJson, stdio);
  const read = (): ReturnType<typeof readIssuer> =>
    readIssuer(setup.issuer, network.value, options.dangerouslyAllowPlainHttp === true);
  const makesRealm = plan.steps.some(({ action, kind }) => kind === 'realm' && action === 'create');
  // An issuer that names itself otherwise is found before anything is made.
  const known = makesRealm ? undefined : await read();
  const isPending = plan.steps.some(({ action }) => action !== 'unchanged');
  if (isPending) {
    const refusal = await mayChange(`Apply this to ${setup.issuer}?`, options, stdio, signal);
    if (refusal !== undefined) return reportFailure(refusal, isJson, stdio);
  }
  record.plan(plan.steps);
  const { secrets } = await applyKeycloak(opened.value, plan, record.onStep);
  for (const secret of secrets.values()) stdio.conceal(secret);
  const metadata = known ?? (await read());
  const form: SecretForm = { ...options, manifests: options.manifests === true };
  const files = writeDeployment(setup, metadata.token_endpoint ?? '', secrets, form);
  if (isJson) {
    const { folder } = setup;
    stdio.out(JSON.stringify({ ok: true, provider: 'keycloak', ...plan, folder, files }));
    return EXIT.ok;
  }
  stdio.out(isPending ? `applied to ${setup.issuer}` : `nothing to change at ${setup.issuer}`);
  for (const { file, state } of files) stdio.out(`${state} ${options.out}/${file}`);
  return EXIT.ok;
}

function writeConfiguration(options: IdpApplyOptions, setup: Setup, stdio: Stdio): ExitCode {
  const { provider, json: isJson = false } = options;
  if (provider === 'keycloak' || provider === 'embedded') return EXIT.failure;
  const { notes, next, files: rendered } = renderSetup(provider, setup);
  const files = writeRendered(setup.folder, rendered);
  if (isJson) {
    stdio.out(JSON.stringify({ ok: true, provider, folder: setup.folder, files, notes, next }));
    return EXIT.ok;
  }
  for (const { file, state } of files) stdio.out(`${state} ${options.out}/${file}`);
  for (const step of next) stdio.out(`next: ${step}`);
  for (const note of notes) stdio.error(`note: ${note}`);
  return EXIT.ok;
}
