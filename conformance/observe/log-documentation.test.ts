/**
 * The page on logs names every event of the source's table, with its level and bound, and nothing else.
 *
 * Reads the source as text: nothing is imported.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const ROOT = new URL('../../', import.meta.url);
const PAGE = readFileSync(new URL('docs/logs.md', ROOT), 'utf8');
const AUDIT = readFileSync(new URL('packages/server/src/audit/audit.ts', ROOT), 'utf8');
const TABLE = readFileSync(new URL('packages/server/src/log/log-events.ts', ROOT), 'utf8');

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

/** A row of the source's table. */
interface SourceRow {
  readonly levels: readonly string[];
  readonly bound: string;
}

/** Events of the source's table; those of the gateway and the embedded IdP have a dot in their names. */
function tableOf(source: string): ReadonlyMap<string, SourceRow> {
  const rows = source.matchAll(
    /^ {2}'?([\w.]+)'?: \{ levels: \[([^\]]*)\], bound: '(\w+)', metrics: \[/gm,
  );
  return new Map(
    [...rows].map(([, event = '', levels = '', bound = '']) => [
      event,
      { levels: [...levels.matchAll(/\w+/g)].map(([level]) => level), bound },
    ]),
  );
}

/** Members of the union of audit events. */
function auditEventsOf(source: string): readonly string[] {
  return [...source.matchAll(/\|\s*Entry<\s*'(\w+)'/g)].map(([, event = '']) => event);
}

function sorted(names: Iterable<string>): readonly string[] {
  return [...new Set(names)].toSorted();
}

describe('the page on logs', () => {
  const table = tableOf(TABLE);
  const logged = [...table].filter(
    ([event, { levels }]) => !event.includes('.') && levels.some((level) => level !== 'audit'),
  );
  const audited = [...table].filter(([, { levels }]) => levels.includes('audit'));

  it('names every event of the log, and none that does not exist', () => {
    expect(logged.length).toBeGreaterThan(30);
    const named = rowsOf(PAGE, 'The log').map(({ event }) => event);
    expect(sorted(named)).toEqual(sorted(logged.map(([event]) => event)));
  });

  it('names each with its levels', () => {
    for (const { event, cells } of rowsOf(PAGE, 'The log')) {
      const [named = ''] = cells;
      for (const level of table.get(event)?.levels ?? [])
        if (level !== 'audit') expect(named, event).toContain(`\`${level}\``);
    }
  });

  it('says of each event of the log whether it is bounded', () => {
    const bounded = logged.filter(([, { bound }]) => bound !== 'every');
    expect(bounded.length).toBeGreaterThan(5);
    const named = rowsOf(PAGE, 'The log')
      .filter(({ cells }) => cells[1] === 'yes')
      .map(({ event }) => event);
    expect(sorted(named)).toEqual(sorted(bounded.map(([event]) => event)));
  });

  it('names every event of the audit stream, and none that does not exist', () => {
    const named = rowsOf(PAGE, 'The audit stream').map(({ event }) => event);
    expect(auditEventsOf(AUDIT).length).toBeGreaterThan(10);
    expect(sorted(named)).toEqual(sorted(auditEventsOf(AUDIT)));
    expect(sorted(named)).toEqual(sorted(audited.map(([event]) => event)));
  });

  it('says of each event of the audit stream how much of it is written', () => {
    const words: Readonly<Record<string, string>> = {
      every: 'never',
      unauthenticated: '50, then 10/s',
      sign_ins: '1,000, then 100/s',
    };
    for (const { event, cells } of rowsOf(PAGE, 'The audit stream'))
      expect(cells[0], event).toBe(words[table.get(event)?.bound ?? '']);
  });

  it('has the numbers of the bounds from the source', () => {
    expect(TABLE).toContain('unauthenticated: { burst: 50, perSecond: 10 },');
    expect(TABLE).toContain('sign_ins: { burst: 1_000, perSecond: 100 },');
  });
});

describe('comparing the page with the source', () => {
  it('reads rows with one or more levels, and names with a dot', () => {
    const found = tableOf(
      "  a_b: { levels: ['warn', 'error'], bound: 'every', metrics: [] },\n  'c.d': { levels: ['info'], bound: 'sign_ins', metrics: ['x'] },",
    );
    expect([...found]).toEqual([
      ['a_b', { levels: ['warn', 'error'], bound: 'every' }],
      ['c.d', { levels: ['info'], bound: 'sign_ins' }],
    ]);
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
