/**
 * `sallyport idp plan`: what a setup would do.
 *
 * @module
 */

import { planKeycloak } from '@sallyport/idp/provision';
import { describeEmbedded } from '../idp/embedded.ts';
import { openKeycloak } from '../idp/open-keycloak.ts';
import { renderSetup } from '../idp/rendered-setup.ts';
import { readSetup, type SetupOptions } from '../idp/setup-options.ts';
import { formatPlan, type ShownPlan } from '../idp/show-plan.ts';
import type { Interruption } from '../process/interruption.ts';
import { type ExitCode, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Prints the plan, or the configuration for a provider that is set up by one. Changes nothing. */
export async function planIdp(
  options: SetupOptions,
  stdio: Stdio,
  { signal }: Interruption,
): Promise<ExitCode> {
  const isJson = options.json === true;
  const { provider } = options;
  if (provider === 'embedded') return describeEmbedded(isJson, stdio);
  const setup = readSetup(options);
  if (!setup.ok) return reportFailure(setup.error, isJson, stdio);
  if (provider !== 'keycloak') {
    const { files, notes } = renderSetup(provider, setup.value);
    if (isJson) stdio.out(JSON.stringify({ ok: true, provider, files, notes }));
    else for (const text of Object.values(files)) stdio.out(text.trimEnd());
    if (!isJson) for (const note of notes) stdio.error(`note: ${note}`);
    return EXIT.ok;
  }
  const target = await openKeycloak(options, setup.value, stdio, signal);
  if (!target.ok) return reportFailure(target.error, isJson, stdio);
  const plan = await planKeycloak(target.value);
  showPlan(plan, isJson, stdio);
  return plan.problems.length > 0 ? EXIT.failure : EXIT.ok;
}

function showPlan(plan: ShownPlan, isJson: boolean, stdio: Stdio): void {
  if (isJson)
    stdio.out(JSON.stringify({ ok: plan.problems.length === 0, provider: 'keycloak', ...plan }));
  else for (const line of formatPlan(plan)) stdio.out(line);
}
