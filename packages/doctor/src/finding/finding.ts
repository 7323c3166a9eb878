/**
 * What a probe found to be wrong.
 *
 * @module
 */

import { withoutUnprintable } from '@sallyport/protocol';
import type { CauseCode } from './causes.ts';

/** How bad it is: `fail` keeps something from working, `warn` will, or weakens. */
export type Severity = 'fail' | 'warn';

/** One thing that is wrong. All texts are printable and of one line each, and hold no secret. */
export interface Finding {
  /** Stable; a section of docs/doctor.md has its name. */
  readonly code: CauseCode;
  readonly severity: Severity;
  /** One sentence: what is wrong, with the values at fault. */
  readonly what: string;
  /** What was seen, a line each. */
  readonly evidence: readonly string[];
  /** What to do: a command, or a setting and its value. */
  readonly fix: string;
}

const LINE_MAX_LENGTH = 400;

/** Makes a finding that keeps something from working. */
export function fail(
  code: CauseCode,
  what: string,
  fix: string,
  evidence: readonly string[] = [],
): Finding {
  return create('fail', code, what, fix, evidence);
}

/** Makes a finding that keeps nothing from working yet. */
export function warn(
  code: CauseCode,
  what: string,
  fix: string,
  evidence: readonly string[] = [],
): Finding {
  return create('warn', code, what, fix, evidence);
}

function create(
  severity: Severity,
  code: CauseCode,
  what: string,
  fix: string,
  evidence: readonly string[],
): Finding {
  return {
    code,
    severity,
    what: toLine(what),
    evidence: evidence.map(toLine),
    fix: toLine(fix),
  };
}

/** Makes text of servers and files one short line that a terminal obeys nothing of. */
function toLine(text: string): string {
  const line = withoutUnprintable(text.slice(0, LINE_MAX_LENGTH * 2))
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > LINE_MAX_LENGTH ? `${line.slice(0, LINE_MAX_LENGTH).toWellFormed()}…` : line;
}
