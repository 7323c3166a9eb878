/**
 * The page on logs names every event that the source can write, and nothing else.
 *
 * Reads the source as text: nothing is imported.
 *
 * @module
 */

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const ROOT = new URL('../../', import.meta.url);
const PAGE = readFileSync(new URL('docs/logs.md', ROOT), 'utf8');
const AUDIT = readFileSync(new URL('packages/server/src/audit/audit.ts', ROOT), 'utf8');
const RATES = readFileSync(new URL('packages/server/src/observe/log/log-bounds.ts', ROOT), 'utf8');

interface Row {
  readonly event: string;
  /** The other cells, the last one left out. */
  readonly cells: readonly string[];
}

/** The rows of the tables in a chapter whose first column is headed `Event`. */
function rowsOf(page: string, chapter: string): readonly Row[] {
  const [, text = ''] = page.split(`\n## ${chapter}\n`);
  const [own = ''] = text.split('\n## ');
  const [, table = ''] = own.split('\n| Event |');
  return table
    .split('\n\n')[0]
    ?.split('\n')
    .slice(2)
    .flatMap((line) => {
      const [, names = '', ...cells] = line.split('|').map((cell) => cell.trim());
      const events = [...names.matchAll(/`([\w.]+)`/g)].map(([, event = '']) => event);
      return events.map((event) => ({ event, cells }));
    }) as readonly Row[];
}

/** Events that a source writes to the log, each with its level. */
function logEventsOf(source: string): ReadonlyMap<string, ReadonlySet<string>> {
  const levels = new Map<string, Set<string>>();
  for (const [, level = '', event = ''] of source.matchAll(
    /\blog\(\s*'(debug|info|warn|error)',\s*'(\w+)'/g,
  ))
    levels.set(event, (levels.get(event) ?? new Set()).add(level));
  return levels;
}

/** Members of the union of audit events. */
function auditEventsOf(source: string): readonly string[] {
  return [...source.matchAll(/\|\s*Entry<\s*'(\w+)'/g)].map(([, event = '']) => event);
}

function sourceIn(folder: URL): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|^testing\//.test(file))
    .map((file) => readFileSync(new URL(file, folder), 'utf8'))
    .join('\n');
}

function sorted(names: Iterable<string>): readonly string[] {
  return [...new Set(names)].toSorted();
}

describe('the page on logs', () => {
  const source = ['packages/server/src/', 'packages/cli/src/'].map((path) =>
    sourceIn(new URL(path, ROOT)),
  );
  const events = logEventsOf(source.join('\n'));
  /** Written where the event comes in a variable. */
  const further = ['configuration_superseded'];

  it('names every event of the log, and none that does not exist', () => {
    expect(events.size).toBeGreaterThan(30);
    const named = rowsOf(PAGE, 'The log').map(({ event }) => event);
    expect(sorted(named)).toEqual(sorted([...events.keys(), ...further]));
  });

  it('names each with its levels', () => {
    for (const { event, cells } of rowsOf(PAGE, 'The log')) {
      const [named = ''] = cells;
      for (const level of events.get(event) ?? []) expect(named, event).toContain(`\`${level}\``);
    }
  });

  it('says of each event of the log whether it is bounded', () => {
    const [, list = ''] = /BOUNDED_EVENTS[^=]*= \[([^\]]*)\]/.exec(RATES) ?? [];
    const bounded = [...list.matchAll(/'([\w.]+)'/g)].map(([, event = '']) => event);
    expect(bounded).not.toEqual([]);
    const own = [...bounded, 'verdict'].filter((event) => !event.startsWith('gateway.'));
    const named = rowsOf(PAGE, 'The log')
      .filter(({ cells }) => cells[1] === 'yes')
      .map(({ event }) => event);
    expect(sorted(named)).toEqual(sorted(own));
  });

  it('names every event of the audit stream, and none that does not exist', () => {
    const named = rowsOf(PAGE, 'The audit stream').map(({ event }) => event);
    expect(auditEventsOf(AUDIT).length).toBeGreaterThan(10);
    expect(sorted(named)).toEqual(sorted(auditEventsOf(AUDIT)));
  });

  it('says of each event of the audit stream how much of it is written', () => {
    const words: Readonly<Record<string, string>> = {
      "'every'": 'never',
      STRANGERS: '50, then 10/s',
      SIGN_INS: '1,000, then 100/s',
    };
    for (const { event, cells } of rowsOf(PAGE, 'The audit stream')) {
      const [, rate = ''] = new RegExp(`^ {2}${event}: ([\\w']+),$`, 'm').exec(RATES) ?? [];
      expect(cells[0], event).toBe(words[rate]);
    }
  });
});

describe('comparing the page with the source', () => {
  it('reads events with one or more levels, on one line or on several', () => {
    const found = logEventsOf(
      "log('warn', 'a_b', {}); log(\n  'error',\n  'a_b'); log('audit', 'c')",
    );
    expect([...found]).toEqual([['a_b', new Set(['warn', 'error'])]]);
  });

  it('reads the names in the first column of the table of one chapter', () => {
    const page =
      '\n## A\n\n| Event | Level |\n|---|---|\n| `a`, `b` | `x` |\n\n| `c` | x |\n\n## B\n';
    expect(rowsOf(page, 'A').map(({ event }) => event)).toEqual(['a', 'b']);
  });

  it('reads the members of the union', () => {
    expect(auditEventsOf("  | Entry<'a', 'b'>\n  | Entry<\n      'c',")).toEqual(['a', 'c']);
  });
});
