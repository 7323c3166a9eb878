/**
 * Runs a graph of probes: each after what it needs, all others at the same time.
 *
 * @module
 */

import { type Finding, fail } from '../finding/finding.ts';
import {
  type Answers,
  broken,
  type Outcome,
  type Probe,
  type ProbeGroup,
  skipped,
} from './probe.ts';

/** How a probe ended. */
export type ProbeStatus = 'ok' | 'warn' | 'fail' | 'skip';

/** One probe of a finished run. */
export interface ProbeResult {
  readonly id: string;
  readonly group: ProbeGroup;
  readonly title: string;
  readonly status: ProbeStatus;
  readonly findings: readonly Finding[];
  /** Why it was skipped; empty otherwise. */
  readonly why: string;
}

/** How a graph is run. */
export interface RunOptions {
  /** Groups to report; all when empty. What these need runs, too. */
  readonly only?: readonly ProbeGroup[];
  /** Groups that do not run; what needs them is skipped. */
  readonly skip?: readonly ProbeGroup[];
  /** Why a probe is not asked yet, by its id. What needs such a probe is skipped for the same reason; none of them is a fault. */
  readonly postponed?: ReadonlyMap<string, string>;
  /** Calls back after a time in milliseconds, unless it is cancelled by what it returns. */
  readonly schedule: (delayMs: number, callback: () => void) => () => void;
  /** Longest time of one probe. */
  readonly probeTimeoutMs: number;
  /** Aborted when all must end; what has not begun is skipped then. */
  readonly signal: AbortSignal;
  /** Hears of the probes under way each time one begins or ends. */
  readonly onProgress?: (running: readonly Probe[], done: number, total: number) => void;
}

/**
 * Runs the probes and those that they need.
 *
 * Where a probe has no value, what needs it answers `needs ID`, naming the first in the row that has none, and nothing
 * more. A probe that throws, or takes too long, is a failure: what could not be looked at is not well.
 *
 * @returns One result for each, in the order given.
 * @throws {TypeError} Two probes with one id, or probes that need each other.
 */
export async function runProbes(
  probes: readonly Probe[],
  options: RunOptions,
): Promise<readonly ProbeResult[]> {
  const { only = [], skip = [], postponed, onProgress } = options;
  const isWanted = ({ group }: Probe): boolean => only.length === 0 || only.includes(group);
  const all = listWithNeeds(probes.filter(isWanted));
  const order = [...probes, ...all].filter((probe, at, list) => list.indexOf(probe) === at);
  const reported = order.filter((probe) => all.includes(probe));
  const running = new Set<Probe>();
  let done = 0;
  const report = (): void => onProgress?.([...running], done, all.length);
  const ended = new Map<Probe, Promise<Ended>>();
  for (const probe of all) ended.set(probe, start(probe));
  return Promise.all(
    reported.map(async (probe) => toResult(probe, (await ended.get(probe)) ?? NOT_RUN)),
  );

  async function start(probe: Probe): Promise<Ended> {
    // All that it waits for were started before it.
    const needs = await Promise.all(probe.needs.map(endOf));
    const after = await Promise.all((probe.after ?? []).map(endOf));
    const lacking = needs.find(({ outcome }) => outcome.kind !== 'value');
    if (skip.includes(probe.group)) return end(probe, skipped('left out'));
    const root = lacking?.root ?? probe;
    const postponement = postponed?.get(root.id);
    if (postponement !== undefined) return end(probe, skipped(postponement), root);
    if (lacking !== undefined) return end(probe, skipped(`needs ${root.id}`), root);
    if (options.signal.aborted) return end(probe, skipped('the time was up'));
    running.add(probe);
    report();
    const outcome = await runBounded(probe, toAnswers([...needs, ...after]), options);
    running.delete(probe);
    return end(probe, outcome);
  }

  function end(probe: Probe, outcome: Outcome<unknown>, root: Probe = probe): Ended {
    done += 1;
    report();
    return { probe, outcome, root };
  }

  async function endOf(probe: Probe): Promise<Ended> {
    return (await ended.get(probe)) ?? { ...NOT_RUN, probe };
  }
}

interface Ended {
  readonly probe: Probe;
  readonly outcome: Outcome<unknown>;
  /** The first in the row of needs that has no value; itself where it is the one. */
  readonly root: Probe;
}

const NOTHING: Probe = { id: '', group: 'config', title: '', needs: [], run: () => skipped('') };
const NOT_RUN: Ended = { probe: NOTHING, outcome: skipped('not run'), root: NOTHING };

/** The probes with all that they wait for, each behind what it waits for. */
function listWithNeeds(probes: readonly Probe[]): readonly Probe[] {
  const listed = new Set<Probe>();
  const open = new Set<Probe>();
  const ids = new Map<string, Probe>();
  const visit = (probe: Probe): void => {
    if (listed.has(probe)) return;
    if (open.has(probe)) throw new TypeError(`the probe ${probe.id} needs itself`);
    if (ids.has(probe.id)) throw new TypeError(`two probes have the id ${probe.id}`);
    ids.set(probe.id, probe);
    open.add(probe);
    for (const need of [...probe.needs, ...(probe.after ?? [])]) visit(need);
    open.delete(probe);
    listed.add(probe);
  };
  for (const probe of probes) visit(probe);
  return [...listed];
}

function toAnswers(ended: readonly Ended[]): Answers {
  const values = new Map<Probe, unknown>();
  for (const { probe, outcome } of ended)
    if (outcome.kind === 'value') values.set(probe, outcome.value);
  return {
    get<V>(probe: Probe<V>): V {
      if (!values.has(probe)) throw new TypeError(`${probe.id} stands in no "needs"`);
      return values.get(probe) as V;
    },
    find: <V>(probe: Probe<V>): V | undefined => values.get(probe) as V | undefined,
  };
}

async function runBounded(
  probe: Probe,
  answers: Answers,
  { schedule, probeTimeoutMs, signal }: RunOptions,
): Promise<Outcome<unknown>> {
  const { promise: timeUp, resolve } = Promise.withResolvers<Outcome<never>>();
  const ender = new AbortController();
  const giveUp = (): void => {
    ender.abort();
    resolve(
      broken(
        fail(
          'probe_unfinished',
          `${probe.title}: the probe ${probe.id} did not end in time`,
          'Run it again with a longer --timeout, or leave it out with --skip.',
        ),
      ),
    );
  };
  const cancel = schedule(probeTimeoutMs, giveUp);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([timeUp, probe.run(answers, ender.signal)]);
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    return broken(
      fail(
        'probe_failed',
        `${probe.title}: the probe ${probe.id} failed (${name})`,
        'This is a defect of the doctor; the other findings stand.',
        error instanceof Error ? [error.message] : [],
      ),
    );
  } finally {
    cancel();
    signal.removeEventListener('abort', giveUp);
  }
}

function toResult({ id, group, title }: Probe, { outcome }: Ended): ProbeResult {
  if (outcome.kind === 'skip')
    return { id, group, title, status: 'skip', findings: [], why: outcome.why };
  const { findings } = outcome;
  const isFailed = outcome.kind === 'none' || findings.some(({ severity }) => severity === 'fail');
  const status = isFailed ? 'fail' : findings.length > 0 ? 'warn' : 'ok';
  return { id, group, title, status, findings, why: '' };
}
