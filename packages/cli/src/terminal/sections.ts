/**
 * Text that a command prints in sections: a heading, and rows in columns.
 *
 * @module
 */

const INDENT = '  ';

/**
 * Lays a section out: the heading with a colon, then a line for each row. The columns but the last are padded to the widest cell.
 *
 * @param rows - Cells of printable text, in code units as wide as in columns.
 * @returns The lines; none for a section without rows.
 */
export function formatSection(
  heading: string,
  rows: readonly (readonly string[])[],
): readonly string[] {
  if (rows.length === 0) return [];
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
  const lines = rows.map((row) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(INDENT),
  );
  return [`${heading}:`, ...lines.map((line) => INDENT + line.trimEnd())];
}

/** Joins sections with an empty line between; those without lines are left out. */
export function joinSections(sections: readonly (readonly string[])[]): readonly string[] {
  return sections
    .filter((lines) => lines.length > 0)
    .flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}
