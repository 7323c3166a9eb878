/**
 * `sallyport idp destroy`: removes a deployment from an identity provider.
 *
 * @module
 */

import { destroyKeycloak, planRemoval } from '@sallyport/idp/provision';
import { mayChange, notPossible } from '../idp/may-change.ts';
import { openKeycloak } from '../idp/open-keycloak.ts';
import { readSetup, type Setup, type SetupOptions } from '../idp/setup-options.ts';
import { formatPlan } from '../idp/show-plan.ts';
import { createStepRecord, type StepRecord } from '../idp/step-record.ts';
import type { Interruption } from '../process/interruption.ts';
import { type ExitCode, type Failure, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Options of the command line. */
export type IdpDestroyOptions = SetupOptions & { readonly yes?: boolean };

/**
 * Removes what setups of this deployment made, after a question on a terminal. Files on this machine stay.
 *
 * @returns 0 also where nothing of the deployment is left in the realm, so that it can be run again; 1 where there is no such realm.
 *   130 when it is interrupted; it says then, and after a failure on the way, which steps were done.
 */
export async function destroyIdp(
  options: IdpDestroyOptions,
  stdio: Stdio,
  interruption: Interruption,
): Promise<ExitCode> {
  const { provider, json: isJson = false } = options;
  if (provider !== 'keycloak')
    return reportFailure(
      {
        error: 'not_possible',
        description: `a setup of ${provider} is not removed by this command`,
        hint:
          provider === 'embedded'
            ? 'Stop "sallyport up" and delete its state folder.'
            : provider === 'dex'
              ? 'Take its clients out of the configuration of Dex.'
              : 'Run "terraform destroy" in the folder of its configuration.',
        exitCode: EXIT.failure,
      },
      isJson,
      stdio,
    );
  const setup = readSetup(options);
  if (!setup.ok) return reportFailure(setup.error, isJson, stdio);
  const record = createStepRecord();
  try {
    return await destroyAtKeycloak(options, setup.value, record, stdio, interruption);
  } catch (error) {
    const failure = record.explain(error, interruption.signal.aborted);
    if (failure === undefined) throw error;
    return reportFailure(failure, isJson, stdio);
  }
}

async function destroyAtKeycloak(
  options: IdpDestroyOptions,
  setup: Setup,
  record: StepRecord,
  stdio: Stdio,
  { signal }: Interruption,
): Promise<ExitCode> {
  const { provider, json: isJson = false } = options;
  const opened = await openKeycloak(options, setup, stdio, signal);
  if (!opened.ok) return reportFailure(opened.error, isJson, stdio);
  const removal = { ...opened.value, publicUrl: setup.publicUrl };
  const plan = await planRemoval(removal);
  if (plan.problems.length > 0)
    return reportFailure(notFound(plan.problems, setup.issuer), isJson, stdio);
  if (!isJson) for (const line of formatPlan(plan)) stdio.out(line);
  if (plan.lacks.length > 0)
    return reportFailure(notPossible('removed', plan.lacks), isJson, stdio);
  if (plan.steps.length > 0) {
    const question = `Remove this from ${setup.issuer}? Sign-ins at the platform then fail.`;
    const refusal = await mayChange(question, options, stdio, signal);
    if (refusal !== undefined) return reportFailure(refusal, isJson, stdio);
    record.plan(plan.steps);
    await destroyKeycloak(removal, plan, record.onStep);
  }
  if (isJson) stdio.out(JSON.stringify({ ok: true, provider, ...plan }));
  else stdio.out(plan.steps.length > 0 ? `removed from ${setup.issuer}` : 'nothing to remove');
  return EXIT.ok;
}

/** The realm is most likely misspelled: with 0, everyone would take the applications for removed. */
function notFound(problems: readonly string[], issuer: string): Failure {
  return {
    error: 'not_found',
    description: `nothing was removed: ${problems.join('; ')} at ${issuer}`,
    hint: 'Compare --issuer with the address of the realm.',
    exitCode: EXIT.failure,
  };
}
