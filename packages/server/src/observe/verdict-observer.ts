/**
 * Port: observer of every verdict and of the door that asked for it.
 *
 * @module
 */

import type { Check } from '../verdict/check.ts';
import type { CheckRequest } from '../verdict/check-request.ts';
import type { Verdict } from '../verdict/verdict.ts';

/**
 * The door that asks for a verdict, as `me` or `gateway`. A metric label: it comes from the code of the door, never from
 * a request.
 */
export type DoorName = string;

/**
 * Called with a verdict before it is answered, in the path of every request: synchronous, quick, and does not
 * throw.
 *
 * @param request - Untrusted.
 */
export type VerdictObserver = (door: DoorName, verdict: Verdict, request: CheckRequest) => void;

/** The check of one door with an observer; decides exactly what the check decides. */
export function observeCheck(check: Check, door: DoorName, observer: VerdictObserver): Check {
  return function observed(request) {
    const verdict = check(request);
    if (verdict instanceof Promise) {
      return verdict.then((decided) => {
        observer(door, decided, request);
        return decided;
      });
    }
    observer(door, verdict, request);
    return verdict;
  };
}

/** Combines observers, called in this order; absent ones are left out. */
export function combineObservers(
  ...observers: readonly (VerdictObserver | undefined)[]
): VerdictObserver {
  const [first, second, ...more] = observers.filter((observer) => observer !== undefined);
  if (first === undefined) return () => {};
  if (second === undefined) return first;
  const rest = more.length === 0 ? second : combineObservers(second, ...more);
  return (door, verdict, request) => {
    first(door, verdict, request);
    rest(door, verdict, request);
  };
}
