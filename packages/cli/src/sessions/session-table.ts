/**
 * Sessions as a table for a person, as wide as the terminal.
 *
 * @module
 */

import { cutTo, displayWidth, padTo, toCell } from './display-width.ts';
import { nameOf, type SessionRow } from './session-row.ts';

interface Column {
  readonly title: string;
  readonly cell: (row: ShownRow) => string;
  /** The least width at which it is useful; absent: it is never cut. */
  readonly min?: number;
  /** An operator may want to copy it: it is cut after all others, and then in its middle. */
  readonly isCopied?: boolean;
}

/** A row in words. */
interface ShownRow {
  readonly id: string;
  readonly who: string;
  readonly subject: string;
  readonly since: string;
  readonly used: string;
  readonly ends: string;
  readonly address: string;
  readonly browser: string;
}

const GAP = '  ';
const ID_WIDTH = 8;
const ID: Column = { title: 'ID', cell: (row) => row.id };
const TIMES: readonly Column[] = [
  { title: 'SIGNED IN (UTC)', cell: (row) => row.since },
  { title: 'LAST USED', cell: (row) => row.used },
  { title: 'ENDS', cell: (row) => row.ends },
];
const WHO: Column = { title: 'WHO', cell: (row) => row.who, min: 16 };
/** Everything on one line. */
const WIDE: readonly Column[] = [
  ID,
  WHO,
  { title: 'SUBJECT', cell: (row) => row.subject, min: 14, isCopied: true },
  ...TIMES,
  { title: 'ADDRESS', cell: (row) => row.address },
  { title: 'BROWSER', cell: (row) => row.browser, min: 14 },
];
/** What does not fit goes on further lines below the name. */
const NARROW: readonly Column[] = [ID, WHO, ...TIMES];

/** What the table is drawn with. */
export interface TableOptions {
  /** Columns of the terminal. */
  readonly columns: number;
  /** Epoch milliseconds. */
  readonly now: number;
  /** A subject of another issuer is shown with that issuer. */
  readonly issuer: string;
  readonly describeBrowser: (userAgent: string) => string;
}

/** Draws the table, its head first; no line is wider than the terminal (of 20 columns at least). */
export function drawSessionTable(rows: readonly SessionRow[], options: TableOptions): string[] {
  const shown = rows.map((row) => toShownRow(row, options));
  const wide = fitColumns(WIDE, shown, options.columns);
  if (wide !== undefined) return drawLines(WIDE, wide, shown, () => []);
  const indentation = ' '.repeat(ID_WIDTH + GAP.length);
  const narrow = fitColumns(NARROW, shown, options.columns);
  if (narrow !== undefined) {
    const below = ({ who, subject, address, browser }: ShownRow): string[] =>
      flow([...(subject === who ? [] : [subject]), address, browser], options.columns, indentation);
    return drawLines(NARROW, narrow, shown, below);
  }
  return shown.flatMap(({ id, who, subject, since, used, ends, address, browser }) => [
    `${id}${GAP}${cutTo(who, options.columns - ID_WIDTH - GAP.length)}`,
    ...flow(
      [
        ...(subject === who ? [] : [subject]),
        `signed in ${since} UTC`,
        `used ${used}`,
        `ends ${ends}`,
        address,
        browser,
      ],
      options.columns,
      GAP,
    ),
  ]);
}

/** Widths of the columns; `undefined` when they do not fit even when all are as narrow as they may be. */
function fitColumns(
  columns: readonly Column[],
  rows: readonly ShownRow[],
  room: number,
): number[] | undefined {
  const widths = columns.map(({ title, cell }) =>
    Math.max(title.length, ...rows.map((row) => displayWidth(cell(row)))),
  );
  let excess =
    widths.reduce((sum, width) => sum + width, 0) + GAP.length * (columns.length - 1) - room;
  while (excess > 0) {
    const widest = findWidest(columns, widths, false) ?? findWidest(columns, widths, true);
    if (widest === undefined) return undefined;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}

/** The column that can best spare some of its width. */
function findWidest(
  columns: readonly Column[],
  widths: readonly number[],
  isCopied: boolean,
): number | undefined {
  let widest: number | undefined;
  for (const [index, { min, isCopied: isOneToCopy = false }] of columns.entries()) {
    const width = widths[index] ?? 0;
    if (min === undefined || width <= min || isOneToCopy !== isCopied) continue;
    if (widest === undefined || width > (widths[widest] ?? 0)) widest = index;
  }
  return widest;
}

function drawLines(
  columns: readonly Column[],
  widths: readonly number[],
  rows: readonly ShownRow[],
  below: (row: ShownRow) => readonly string[],
): string[] {
  const line = (textOf: (column: Column) => string): string =>
    columns
      .map((column, index) => {
        const width = widths[index] ?? 0;
        return padTo(
          cutTo(textOf(column), width, column.isCopied === true ? 'middle' : 'end'),
          width,
        );
      })
      .join(GAP)
      .trimEnd();
  return [
    line(({ title }) => title),
    ...rows.flatMap((row) => [line(({ cell }) => cell(row)), ...below(row)]),
  ];
}

/** Puts parts one after another, on as many lines as they need; a part is cut only when it is longer than a line. */
function flow(parts: readonly string[], columns: number, indentation: string): string[] {
  const room = columns - indentation.length;
  const lines: string[] = [];
  let current = '';
  for (const part of parts.filter((each) => each !== '')) {
    const longer = current === '' ? part : `${current}${GAP}${part}`;
    if (current === '' || displayWidth(longer) <= room) current = cutTo(longer, room);
    else {
      lines.push(indentation + current);
      current = cutTo(part, room);
    }
  }
  return current === '' ? lines : [...lines, indentation + current];
}

function toShownRow(
  row: SessionRow,
  { now, issuer, describeBrowser }: Pick<TableOptions, 'now' | 'issuer' | 'describeBrowser'>,
): ShownRow {
  const at = row.issuer === issuer ? '' : ` (${row.issuer})`;
  return {
    id: row.id,
    who: toCell(nameOf(row)),
    subject: toCell(row.subject + at),
    since: new Date(row.createdAt).toISOString().slice(0, 16).replace('T', ' '),
    used: now - row.lastUsedAt < MINUTE_MS ? 'just now' : `${roughly(now - row.lastUsedAt)} ago`,
    ends: `in ${roughly(row.endsAt - now)}`,
    address: toCell(row.address),
    browser: toCell(describeBrowser(row.browser)),
  };
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** One unit is enough to compare by. Whatever rounds up to the next one is said in that: no `60m`. */
function roughly(ms: number): string {
  if (ms < MINUTE_MS) return '<1m';
  const minutes = Math.round(ms / MINUTE_MS);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.round(ms / HOUR_MS);
  return hours < 48 ? `${hours}h` : `${Math.round(ms / DAY_MS)}d`;
}
