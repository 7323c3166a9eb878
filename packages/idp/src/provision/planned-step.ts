/**
 * What a setup would do at an identity provider, for people to read before it does it. Holds no secret.
 *
 * @module
 */

/** One field that is not as it should be. */
export interface FieldChange {
  readonly field: string;
  /** What is there; empty for nothing. */
  readonly found: string;
  /** What will be there; empty for nothing. */
  readonly wanted: string;
}

/** One object at the provider. */
export interface PlannedStep {
  readonly action: 'create' | 'change' | 'delete' | 'unchanged';
  /** The provider's word for it, such as `client scope`. */
  readonly kind: string;
  readonly name: string;
  /** What changes; all that matters for one that is created; empty for one that is deleted or unchanged. */
  readonly fields: readonly FieldChange[];
}

/** Whether there is anything to do. */
export function isPending({ action }: PlannedStep): boolean {
  return action !== 'unchanged';
}

/** Hears of each step, one that changes nothing included, as its first request is about to leave, and once its last one was answered. */
export type StepListener = (
  step: Pick<PlannedStep, 'kind' | 'name'>,
  state: 'begun' | 'done',
) => void;

/** Hears nothing. */
export const NO_LISTENER: StepListener = () => undefined;

/** Does the work of one step, and has the listener hear of it. */
export async function listenTo<T>(
  listener: StepListener,
  step: Pick<PlannedStep, 'kind' | 'name'>,
  work: () => Promise<T>,
): Promise<T> {
  listener(step, 'begun');
  const done = await work();
  listener(step, 'done');
  return done;
}
