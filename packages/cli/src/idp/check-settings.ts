/**
 * What the applications' settings at a Keycloak say, beside what their use proves: some matter to people's tokens alone.
 *
 * @module
 */

import type { CheckedGrant } from '@sallyport/idp/grants';
import { type PlannedStep, planKeycloak } from '@sallyport/idp/provision';
import type { Stdio } from '../terminal/stdio.ts';
import { openKeycloak } from './open-keycloak.ts';
import { namesAdministrator, type Setup, type SetupOptions } from './setup-options.ts';

const TRIED = 'settings in the realm';

/**
 * Compares the realm with what `apply` makes. Changes nothing.
 *
 * @returns A finding for each application and scope; none where no administrator is named, or the provider is another. An
 *   administrator who is refused decides nothing, and is one finding.
 */
export async function checkSettings(
  options: SetupOptions,
  setup: Setup,
  stdio: Stdio,
  signal: AbortSignal,
): Promise<readonly CheckedGrant[]> {
  if (options.provider !== 'keycloak' || !namesAdministrator(options, process.env)) return [];
  const undecided = (finding: string): readonly CheckedGrant[] => [
    { clientId: setup.spec.web.clientId, tried: TRIED, result: 'undecided', finding },
  ];
  const opened = await openKeycloak(options, setup, stdio, signal);
  if (!opened.ok) return undecided(opened.error.description);
  try {
    const { steps, problems } = await planKeycloak(opened.value);
    if (problems.length > 0) return undecided(problems.join('; '));
    return steps.filter(({ kind }) => kind !== 'realm').map(judge);
  } catch (error) {
    if (error instanceof Error && error.name === 'SallyportError') return undecided(error.message);
    throw error;
  }
}

function judge({ action, kind, name, fields }: PlannedStep): CheckedGrant {
  const found = { clientId: kind === 'client' ? name : `${kind} ${name}`, tried: TRIED };
  if (action === 'unchanged') return { ...found, result: 'passed', finding: 'as apply makes them' };
  if (action === 'create') return { ...found, result: 'failed', finding: 'it is not there' };
  const differences = fields.map(
    (field) => `${field.field} is ${field.found || 'absent'}, expected ${field.wanted || 'absent'}`,
  );
  return { ...found, result: 'failed', finding: differences.join('; ') };
}
