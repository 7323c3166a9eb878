/**
 * A diagnosis for programs: docs/doctor.schema.json says its form.
 *
 * @module
 */

import { escapeUnprintable } from '@sallyport/protocol';
import type { Diagnosis } from '../diagnosis.ts';

/** Version of the form; a member that is added does not change it. */
const REPORT_VERSION = 1;

/** Link to the section of a cause, from the root of the documentation. */
function linkTo(code: string): string {
  return `docs/doctor.md#${code}`;
}

/** One line of JSON without a character that a terminal would obey. */
export function formatJson({ findings, probes }: Diagnosis, isStrict: boolean): string {
  return escapeUnprintable(
    JSON.stringify({
      version: REPORT_VERSION,
      ok: isWell({ findings, probes }, isStrict),
      findings: findings.map(({ code, severity, probe, what, evidence, fix }) => ({
        code,
        severity,
        probe,
        what,
        evidence,
        fix,
        docs: linkTo(code),
      })),
      probes: probes.map(({ id, group, title, status, why }) => ({
        id,
        group,
        title,
        status,
        ...(why === '' ? {} : { why }),
      })),
    }),
  );
}

/** Whether nothing is wrong; a warning counts where it is strict. */
export function isWell({ findings }: Diagnosis, isStrict: boolean): boolean {
  return findings.every(({ severity }) => !isStrict && severity === 'warn');
}
