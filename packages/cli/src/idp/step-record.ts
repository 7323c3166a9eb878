/**
 * How far a setup or a removal has come, for the case that it does not come to its end.
 *
 * @module
 */

import type { PlannedStep, StepListener } from '@sallyport/idp/provision';
import { escapeUnprintable } from '@sallyport/protocol';
import { type Failure, toThrownFailure } from '../terminal/report.ts';
import { EXIT } from '../terminal/stdio.ts';

/** Keeps which steps of a plan were begun and done. */
export interface StepRecord {
  /** Takes the plan, before the first step. */
  readonly plan: (steps: readonly PlannedStep[]) => void;
  readonly onStep: StepListener;
  /**
   * What is said of what was thrown: with the steps that were done, that are not known to be done, and that were not begun. Steps that
   * change nothing are left out.
   *
   * @returns `undefined` where there is nothing to add: for a failure that is no interruption, before any step was done or may be.
   */
  readonly explain: (thrown: unknown, wasInterrupted: boolean) => Failure | undefined;
}

/** Starts without a plan. */
export function createStepRecord(): StepRecord {
  const states = new Map<string, 'begun' | 'done'>();
  let pending: readonly string[] = [];
  const namesIn = (state: 'begun' | 'done' | undefined): string =>
    pending.filter((name) => states.get(name) === state).join(', ');
  return {
    plan(steps) {
      pending = steps.filter(({ action }) => action !== 'unchanged').map(nameOf);
    },
    onStep(step, state) {
      states.set(nameOf(step), state);
    },
    explain(thrown, wasInterrupted) {
      const failure = toThrownFailure(thrown, wasInterrupted);
      const done = namesIn('done');
      const begun = namesIn('begun');
      // An answer that refuses a request leaves nothing open.
      const isRefused = !wasInterrupted && failure.exitCode !== EXIT.unreachable;
      if (done === '' && (begun === '' || isRefused))
        return wasInterrupted
          ? { ...failure, description: `${failure.description}; nothing was changed` }
          : undefined;
      const progress = [
        ['done', done],
        [isRefused ? 'begun, and not done to its end' : 'begun, and perhaps done', begun],
        ['not begun', namesIn(undefined)],
      ]
        .filter(([, names]) => names !== '')
        .map(([what, names]) => `${what}: ${names}`)
        .join('; ');
      return {
        ...failure,
        description: `${failure.description}; ${escapeUnprintable(progress)}`,
        hint: [failure.hint, 'Run the same command again: it continues from there.']
          .filter((text) => text !== '')
          .join(' '),
      };
    },
  };
}

function nameOf({ kind, name }: Pick<PlannedStep, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}
