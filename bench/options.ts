/**
 * Options of the command line.
 *
 * @module
 */

import { parseArgs } from 'node:util';
import type { Plan } from './load/candidate.ts';

/** What the command was asked for. */
export interface Options {
  /** Only how to call it. */
  readonly isHelp: boolean;
  /** Names of cases; empty for all. */
  readonly cases: readonly string[];
  readonly plan: Plan;
  readonly isQuick: boolean;
  /** File to write the whole report to. */
  readonly json: string | undefined;
  /** Writes page, chart and report into docs/. */
  readonly docs: boolean;
  /** A report to make table and page from, in place of a run. */
  readonly from: string | undefined;
  /** The program oauth2-proxy, where it is not on the PATH. */
  readonly peer: string | undefined;
  /** What to call its version, for one that does not know it. */
  readonly peerVersion: string | undefined;
}

const FULL = { rounds: 7, seconds: 4 };
const QUICK = { rounds: 2, seconds: 1 };
/** The least at which a run is more than a try-out. */
export const ROUNDS_LEAST = 5;
const CONNECTIONS = 32;

/** How to call it. */
export const USAGE: string = `usage: npm run bench -- [CASE...] [options]

All cases take half an hour. Two cores are needed, one for servers and one for the load.

  --rounds N          rounds after the one that warms up (${FULL.rounds})
  --seconds N         seconds of each load (${FULL.seconds})
  --quick             ${QUICK.rounds} rounds of ${QUICK.seconds} s: whether it works, not how fast it is
  --peer PATH         oauth2-proxy, where it is not on the PATH
  --peer-version V    what to call its version, for a build that does not know it
  --json FILE         writes the whole report
  --docs              writes docs/benchmarks.md, .svg and .json
  --from FILE         makes table and page from a report, and measures nothing
  --help              this text`;

/** Reads them. @throws {TypeError} Naming what is wrong. */
export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      peer: { type: 'string' },
      'peer-version': { type: 'string' },
      json: { type: 'string' },
      docs: { type: 'boolean', default: false },
      from: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { rounds, seconds } = values.quick ? QUICK : FULL;
  return {
    isHelp: values.help,
    cases: positionals,
    plan: {
      rounds: parseCount('rounds', values.rounds, rounds),
      seconds: parseCount('seconds', values.seconds, seconds),
      connections: CONNECTIONS,
    },
    isQuick: values.quick,
    json: values.json,
    docs: values.docs,
    from: values.from,
    peer: values.peer,
    peerVersion: values['peer-version'],
  };
}

function parseCount(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new TypeError(`--${name} is a number from 1, not ${text}`);
  return Number(text);
}
