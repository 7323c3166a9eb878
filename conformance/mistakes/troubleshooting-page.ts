/**
 * docs/troubleshooting.md, written from what is said of each mistake.
 *
 * @module
 */

import type { Mistake, Said } from './mistake.ts';

/** Mistakes that show at the same place. */
export interface Chapter {
  readonly title: string;
  readonly mistakes: readonly Mistake[];
}

const INTRODUCTION = `<!-- Made by conformance/mistakes from what the program says. Do not edit: npx vitest run conformance/mistakes --update -->

# Troubleshooting

Find the mistake behind a line or a page. Each was made for this table: the line is the first one that the operator reads, without
time, address, browser and request id; the page is what the person sees, or the answer that a program gets. The lines of \`serve\`
are on standard error; each page ends with the id of the request, which the line has as \`request_id\`.
[errors.md](errors.md) explains every reason and code, [logs.md](logs.md) every line.
`;

/** Writes the page. */
export function writeTroubleshootingPage(
  chapters: readonly Chapter[],
  said: ReadonlyMap<string, Said>,
): string {
  return [INTRODUCTION, ...chapters.map((chapter) => writeChapter(chapter, said))].join('\n');
}

function writeChapter({ title, mistakes }: Chapter, said: ReadonlyMap<string, Said>): string {
  const rows = mistakes.map(({ name }) => {
    const { line = '', page = '' } = said.get(name) ?? {};
    return `| ${[name, writeCode(line), page].map(escapeCell).join(' | ')} |`;
  });
  return `${[`## ${title}`, '', '| Mistake | First line that the operator reads | What the person or program sees |', '|---|---|---|', ...rows].join('\n')}\n`;
}

function writeCode(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

function escapeCell(cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
