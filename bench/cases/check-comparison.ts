/**
 * Sallyport's check beside bare node:http, which answers the same bytes, and beside oauth2-proxy's check.
 *
 * @module
 */

import { type Bench, measureInTurn } from '../bench-case.ts';
import type { Candidate, Plan } from '../load/candidate.ts';
import { memoryFinding, p99Finding, rateFinding } from '../report/findings.ts';
import type { CaseReport, Finding } from '../report/report.ts';
import { startBare } from '../servers/bare.ts';
import { type Peer, type PeerOptions, startPeer } from '../servers/oauth2-proxy.ts';
import type { Sallyport } from '../servers/sallyport.ts';

/** Names as the tables have them. */
export const NAMES = {
  sallyport: 'Sallyport',
  bare: 'bare node:http',
  peer: 'oauth2-proxy',
} as const;

/** What a candidate is sent, and what it answers. */
export type Work = Pick<Candidate, 'samples' | 'script' | 'prepare'>;

/** What is compared. */
export interface CheckComparison {
  readonly sallyport: Candidate;
  /** Absent: left out. */
  readonly bare?: Candidate;
  readonly peer?: Candidate | undefined;
  /** Measured in the same turns, and compared with nothing. */
  readonly others?: readonly Candidate[];
  /** Least ratios of the rates, and most MB of a process of Sallyport. */
  readonly wanted: { readonly bare?: number; readonly peer?: number; readonly memoryMb?: number };
}

/** Sallyport's check as a candidate. */
export function sallyportCandidate(
  sallyport: Sallyport,
  work: Work,
  name: string = NAMES.sallyport,
): Candidate {
  return {
    ...work,
    name,
    // Another one after each restart.
    get url() {
      return sallyport.url;
    },
    pids: sallyport.pids,
  };
}

/** oauth2-proxy's check as a candidate. */
function peerCandidate({ url, pids }: Peer, work: Work, name: string = NAMES.peer): Candidate {
  return { ...work, name, url, pids };
}

/** Bare node:http that answers what Sallyport answers to the one sample of its work. */
export async function bareCandidate(
  { ends }: Bench,
  sallyport: Sallyport,
  { samples }: Work,
): Promise<Candidate> {
  const server = await startBare(ends, sallyport.url, samples[0]?.headers ?? {});
  const { pid } = server.process;
  return { name: NAMES.bare, url: server.url, samples, pids: () => [pid] };
}

/** Starts the peer and makes a candidate of it, where there is one. */
export async function peerWhere(
  { ends, peerPath }: Bench,
  options: Omit<PeerOptions, 'path'>,
  work: (peer: Peer) => Work | Promise<Work>,
  name?: string,
): Promise<Candidate | undefined> {
  if (peerPath === undefined) return undefined;
  const peer = await startPeer(ends, { ...options, path: peerPath });
  return peerCandidate(peer, await work(peer), name);
}

/** Measures them in turn. */
export async function compareChecks(
  bench: Bench,
  { sallyport, bare, peer, others = [], wanted }: CheckComparison,
  changes: Partial<Plan> = {},
): Promise<Pick<CaseReport, 'measured' | 'findings'>> {
  const candidates = [sallyport, bare, peer, ...others].filter((each) => each !== undefined);
  const measured = await measureInTurn(bench, candidates, changes);
  const of = (candidate: Candidate | undefined) =>
    measured.find(({ name }) => name === candidate?.name);
  const [own, plain, other] = [of(sallyport), of(bare), of(peer)];
  const findings: Finding[] = [];
  if (own !== undefined) {
    if (plain !== undefined) findings.push(rateFinding(own, plain, wanted.bare));
    if (other !== undefined)
      findings.push(rateFinding(own, other, wanted.peer), p99Finding(own, other, 1));
    if (wanted.memoryMb !== undefined) findings.push(memoryFinding(own, wanted.memoryMb));
  }
  return { measured, findings };
}
