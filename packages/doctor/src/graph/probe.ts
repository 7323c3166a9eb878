/**
 * A probe: one question, what it needs to know first, and what it answers.
 *
 * @module
 */

import type { Finding } from '../finding/finding.ts';

/** Groups that `--only` and `--skip` name. */
export const PROBE_GROUPS = [
  'config',
  'secrets',
  'dns',
  'tcp',
  'tls',
  'http',
  'oidc',
  'gate',
  'metadata',
  'clocks',
  'grants',
  'headers',
  'cookies',
  'proxy',
  'cluster',
  'machine',
] as const;

/** One of {@link PROBE_GROUPS}. */
export type ProbeGroup = (typeof PROBE_GROUPS)[number];

/** What a probe answers. Only one with a value lets those run that need it. */
export type Outcome<V> =
  | { readonly kind: 'value'; readonly value: V; readonly findings: readonly Finding[] }
  | { readonly kind: 'none'; readonly findings: readonly Finding[] }
  /** It could not be asked, and that is no fault. */
  | { readonly kind: 'skip'; readonly why: string };

/** Reads what other probes answered. */
export interface Answers {
  /** The value of a probe that stands in `needs`. */
  get<V>(probe: Probe<V>): V;
  /** The value of a probe in `after`; `undefined` when it has none. */
  find<V>(probe: Probe<V>): V | undefined;
}

/** One question. */
export interface Probe<V = unknown> {
  /** Unique, such as `issuer.tls`. */
  readonly id: string;
  readonly group: ProbeGroup;
  /** What is looked at, a noun phrase. */
  readonly title: string;
  /** Without the value of each of these it is skipped. */
  readonly needs: readonly Probe[];
  /** Answered before it, with or without a value. */
  readonly after?: readonly Probe[];
  /** MUST end soon after the signal; what it answers then is not looked at. */
  readonly run: (answers: Answers, signal: AbortSignal) => Outcome<V> | Promise<Outcome<V>>;
}

/** An answer, and what is wrong all the same. */
export function found<V>(value: V, findings: readonly Finding[] = []): Outcome<V> {
  return { kind: 'value', value, findings };
}

/** No answer: what needs one is hidden behind these findings. */
export function broken(...findings: readonly Finding[]): Outcome<never> {
  return { kind: 'none', findings };
}

/** It could not be asked here. */
export function skipped(why: string): Outcome<never> {
  return { kind: 'skip', why };
}
