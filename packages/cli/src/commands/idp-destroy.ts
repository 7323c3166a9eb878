/**
 * `sallyport idp destroy`: removes a deployment from an identity provider.
 *
 * @module
 */

import { destroyKeycloak, planRemoval } from '@sallyport/idp/provision';
import { mayChange, notPossible } from '../idp/may-change.ts';
import { openKeycloak } from '../idp/open-keycloak.ts';
import { readSetup, type SetupOptions } from '../idp/setup-options.ts';
import { formatPlan } from '../idp/show-plan.ts';
import type { Interruption } from '../process/interruption.ts';
import { type ExitCode, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Removes what setups of this deployment made, after a question on a terminal. Files on this machine stay. */
export async function destroyIdp(
  options: SetupOptions & { readonly yes?: boolean },
  stdio: Stdio,
  { signal }: Interruption,
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
  const opened = await openKeycloak(options, setup.value, stdio);
  if (!opened.ok) return reportFailure(opened.error, isJson, stdio);
  const removal = { ...opened.value, publicUrl: setup.value.publicUrl };
  const plan = await planRemoval(removal);
  if (!isJson) for (const line of formatPlan({ ...plan, problems: [] })) stdio.out(line);
  if (plan.lacks.length > 0)
    return reportFailure(notPossible('removed', plan.lacks), isJson, stdio);
  if (plan.steps.length > 0) {
    const question = `Remove this from ${setup.value.issuer}? Sign-ins at the platform then fail.`;
    const refusal = await mayChange(question, options, stdio, signal);
    if (refusal !== undefined) return reportFailure(refusal, isJson, stdio);
    await destroyKeycloak(removal, plan);
  }
  if (isJson) stdio.out(JSON.stringify({ ok: true, provider, ...plan }));
  else
    stdio.out(plan.steps.length > 0 ? `removed from ${setup.value.issuer}` : 'nothing to remove');
  return EXIT.ok;
}
