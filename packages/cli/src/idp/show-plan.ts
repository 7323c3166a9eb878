/**
 * A plan for people and for programs.
 *
 * @module
 */

import type { PlannedStep } from '@sallyport/idp/provision';
import { escapeUnprintable } from '@sallyport/protocol';

/** What a plan says. */
export interface ShownPlan {
  readonly steps: readonly PlannedStep[];
  readonly problems: readonly string[];
  /** Why the administrator may not do it. */
  readonly lacks: readonly string[];
  readonly notes: readonly string[];
}

const SIGNS: Readonly<Record<PlannedStep['action'], string>> = {
  create: '+',
  change: '~',
  delete: '-',
  unchanged: '=',
};
const DONE: Readonly<Record<PlannedStep['action'], string>> = {
  create: 'to create',
  change: 'to change',
  delete: 'to delete',
  unchanged: 'unchanged',
};

/** Lines of a diff: a line for each object, below it one for each field that is not as it should be. */
export function formatPlan({ steps, problems, lacks, notes }: ShownPlan): readonly string[] {
  return [
    ...steps.flatMap(({ action, kind, name, fields }) => [
      `${SIGNS[action]} ${kind} ${escapeUnprintable(name)}`,
      ...fields.map(({ field, found, wanted }) =>
        escapeUnprintable(
          action === 'create'
            ? `    ${field}: ${wanted}`
            : `    ${field}: ${show(found)} -> ${show(wanted)}`,
        ),
      ),
    ]),
    ...notes.map((note) => `note: ${escapeUnprintable(note)}`),
    ...lacks.map((lack) => `note: ${escapeUnprintable(lack)}`),
    ...problems.map((problem) => `problem: ${escapeUnprintable(problem)}`),
    summarize(steps),
  ];
}

/** One line: how many of each. */
function summarize(steps: readonly PlannedStep[]): string {
  const count = (action: PlannedStep['action']): number =>
    steps.filter((step) => step.action === action).length;
  return (['create', 'change', 'delete', 'unchanged'] as const)
    .map((action) => `${count(action)} ${DONE[action]}`)
    .join(', ');
}

const show = (text: string): string => (text === '' ? '(none)' : text);
