/**
 * A run of the doctor, from what is looked at to what was found.
 *
 * @module
 */

import type { Finding } from './finding/finding.ts';
import type { ProbeResult, RunOptions } from './graph/run-probes.ts';
import { runProbes } from './graph/run-probes.ts';
import { listProbes } from './list-probes.ts';
import type { Subject } from './subject.ts';

/** A finding, and the probe that made it. */
export interface PlacedFinding extends Finding {
  readonly probe: string;
}

/** What was found. */
export interface Diagnosis {
  /** What keeps something from working before what only weakens; what others hang on comes first. */
  readonly findings: readonly PlacedFinding[];
  readonly probes: readonly ProbeResult[];
}

/** Runs all probes of a subject. Repairs nothing. */
export async function diagnose(subject: Subject, options: RunOptions): Promise<Diagnosis> {
  return toDiagnosis(await runProbes(listProbes(subject), options));
}

/** Puts the findings of finished probes in order. */
function toDiagnosis(probes: readonly ProbeResult[]): Diagnosis {
  const findings = probes.flatMap(({ id, findings }) =>
    findings.map((finding) => ({ ...finding, probe: id })),
  );
  const ofSeverity = (severity: Finding['severity']): readonly PlacedFinding[] =>
    findings.filter((finding) => finding.severity === severity);
  return { findings: [...ofSeverity('fail'), ...ofSeverity('warn')], probes };
}
