/**
 * The one way by which doors ask for verdicts.
 *
 * @module
 */

import type { Audit } from './audit/audit.ts';
import type { ReadOrigin } from './audit/audit-origin.ts';
import type { Ask } from './doors/door.ts';
import { auditBearers } from './observe/audit-bearers.ts';
import { traceVerdicts } from './observe/traces/trace-verdicts.ts';
import {
  combineObservers,
  observeCheck,
  type VerdictObserver,
} from './observe/verdict-observer.ts';
import type { Tracer } from './trace/tracer.ts';
import type { Check } from './verdict/check.ts';

/** What {@link createAsk} is made from. */
export interface AskOptions {
  readonly check: Check;
  readonly audit: Audit;
  readonly originOf: ReadOrigin;
  readonly onVerdict: VerdictObserver | undefined;
  readonly tracer: Tracer | undefined;
}

/** The way to ask, and the names of those who do. */
export interface AskedDoors {
  readonly ask: Ask;
  readonly doorNames: ReadonlySet<string>;
}

/** A name is the value of a metric label. */
const DOOR_NAME = /^[a-z][a-z0-9_]{0,31}$/;

/** Creates it: each verdict goes to the audit stream, to the observer of the options, and into the span. */
export function createAsk({ check, audit, originOf, onVerdict, tracer }: AskOptions): AskedDoors {
  const observer = combineObservers(
    auditBearers(audit, originOf),
    onVerdict,
    traceVerdicts(tracer),
  );
  const doorNames = new Set<string>();
  return {
    doorNames,
    ask({ name }) {
      if (!DOOR_NAME.test(name)) throw new TypeError(`${name} is no name of a door`);
      if (doorNames.has(name)) throw new TypeError(`two doors have the name ${name}`);
      doorNames.add(name);
      return observeCheck(check, name, observer);
    },
  };
}
