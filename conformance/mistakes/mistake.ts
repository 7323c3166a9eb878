/**
 * A mistake that an operator can make, and what is said of it: the first line that the operator reads, and the page that
 * a person sees.
 *
 * @module
 */

import type { Received } from '../wire/exchange.ts';
import type { Service } from '../wire/platform.ts';
import { type LogLine, logOf } from '../wire/workers.ts';

/** What is said of a mistake. */
export interface Said {
  /** The first line in the log, or on the terminal, that is about it. */
  readonly line: string;
  /** The page of a person, or the answer to a program; empty where nothing answers. */
  readonly page: string;
}

/** A row of the table. */
export interface Mistake {
  readonly name: string;
  /** Makes it, for real. */
  readonly make: () => Promise<Said>;
}

/** What differs from run to run, by what stands in its place. */
export type Volatile = readonly (readonly [found: string | RegExp, shown: string])[];

/** Fields that say nothing of the mistake. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'time',
  'address',
  'browser',
  'request_id',
  'session',
  'worker',
]);
/** Lines that a log has without a mistake. */
const USUAL: ReadonlySet<unknown> = new Set([
  'sign_in_started',
  'session_begun',
  'configuration_loaded',
  'key_ring_loaded',
]);
const WORTH_READING: ReadonlySet<unknown> = new Set(['warn', 'error', 'audit']);

/** The platform and its IdP under the names of an installation. */
export function namesOf({ url, idp, state }: Service): Volatile {
  return [
    [url, 'https://platform.example.com'],
    [idp.issuer, 'https://idp.example.com'],
    [new URL(idp.issuer).host, 'idp.example.com'],
    [state, '/var/lib/sallyport'],
  ];
}

/** Lines of warnings, errors and failed sign-ins. */
export function noticesOf(lines: readonly LogLine[]): readonly LogLine[] {
  return lines.filter(({ level, event }) => WORTH_READING.has(level) && !USUAL.has(event));
}

/**
 * Makes a mistake of one sign-in, or of one request, in a service that runs.
 *
 * @param browse - Returns what the person or the program sees.
 */
export async function saidOf(
  service: Service,
  browse: () => Promise<Received>,
  more: Volatile = [],
): Promise<Said> {
  const before = logOf(service.running).length;
  const received = await browse();
  const line = await firstNotice(service, before);
  const names = [...more, ...namesOf(service)];
  return { line: writeLine(line, names), page: writePage(received, names) };
}

/** The first notice after so many lines. The log is written behind the answers. */
async function firstNotice(service: Service, after: number): Promise<LogLine> {
  const limit = Date.now() + 10_000;
  for (;;) {
    const [line] = noticesOf(logOf(service.running).slice(after));
    if (line !== undefined) return line;
    if (Date.now() > limit) throw new Error('the log says nothing');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A line of the log with the fields that are about the mistake. */
export function writeLine(line: LogLine, names: Volatile): string {
  const told = Object.entries(line).filter(
    ([name, value]) => !LEFT_OUT.has(name) && value !== null,
  );
  return replaceAll(JSON.stringify(Object.fromEntries(told)), names);
}

/** The text of a page with its status, or the answer to a program. */
export function writePage({ status, body, headers }: Received, names: Volatile): string {
  const type = headers['content-type'] ?? '';
  if (type.startsWith('application/problem+json')) {
    const { reason } = JSON.parse(body) as { readonly reason?: string };
    return `${status}, \`${reason}\``;
  }
  if (!type.startsWith('text/html')) return String(status);
  const paragraphs = [...body.matchAll(/<(h1|p)(?: class="dim")?>(.*?)<\/\1>/gs)].map(
    ([, tag = '', markup = '']) => (tag === 'h1' ? `**${textOf(markup)}**` : textOf(markup)),
  );
  const shown = paragraphs.filter((text) => !/^(?:Try again|Use another account)$/.test(text));
  const text = shown.join(' ').replace(/, request \S+$/, '');
  return `${status}: ${replaceAll(text, names)}`;
}

/** Puts the names of an installation in the place of what differs from run to run. */
export function replaceAll(text: string, names: Volatile): string {
  return names.reduce((changed, [found, shown]) => changed.replaceAll(found, shown), text);
}

function textOf(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
