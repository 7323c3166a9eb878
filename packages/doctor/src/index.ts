/**
 * Finds why a sign-in does not work, from a laptop, inside a cluster, or on files alone. Repairs nothing.
 *
 * @module
 */

export type {
  Cluster,
  ClusterRefusal,
  ClusterSubject,
  KubeKind,
  KubeObject,
  Labels,
} from './cluster.ts';
export { type Diagnosis, diagnose, type PlacedFinding } from './diagnosis.ts';
export { CAUSES, type Cause, type CauseCode } from './finding/causes.ts';
export { type Finding, fail, warn } from './finding/finding.ts';
export {
  broken,
  found,
  PROBE_GROUPS,
  type Probe,
  type ProbeGroup,
  skipped,
} from './graph/probe.ts';
export type { ProbeResult, RunOptions } from './graph/run-probes.ts';
export { PART_PROBES } from './list-probes.ts';
export type { Network } from './network/network.ts';
export { createNodeNetwork } from './network/node-network.ts';
export { type Directive, parseNginx, type SyntaxProblem } from './nginx/parse-nginx.ts';
export { listSites, type Site } from './nginx/site.ts';
export { formatText } from './report/format-text.ts';
export { formatJson, isWell } from './report/to-json.ts';
export type { ClientSubject, NginxSubject, ServerSubject, Subject } from './subject.ts';
