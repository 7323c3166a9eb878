/**
 * Headers for the collector, which is how it knows who sends: a secret in a file.
 *
 * @module
 */

import { formatConfigProblem, openKeyFile, rereadEvery } from '@sallyport/config';
import { accept, type Result, refuse, SallyportError } from '@sallyport/protocol';
import type { Log } from '@sallyport/server/observe';

/** Headers that follow their file. */
export interface CollectorHeaders {
  readonly current: () => Readonly<Record<string, string>>;
  close(): void;
}

const KEY = 'observe.traces.headersFile';
/** A changed file is used within this time. */
const REREAD_MS = 2_000;
const HEADERS_MAX = 16;
/** A field line of RFC 9110 section 5.1, its value of visible ASCII with blanks between. */
const LINE =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}):[ \t]*([\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?)[ \t]*$/;
/** What the exporter and HTTP itself decide. */
const RESERVED: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
]);

/**
 * Opens the file; without one there are no headers.
 *
 * @throws {SallyportError} `SP_CONFIG_INVALID` when it cannot be used. A file that becomes unusable later is
 *   logged, and the last good headers stay.
 */
export function openCollectorHeaders(path: string, log: Log): CollectorHeaders {
  if (path === '') return { current: () => ({}), close: () => {} };
  const opened = openKeyFile({
    path,
    key: KEY,
    secretKey: 'headers',
    trigger: rereadEvery(REREAD_MS),
    onProblem: (problem) => log('error', 'secret_file', { problem: formatConfigProblem(problem) }),
    parse: parseHeaders,
  });
  if (opened.ok)
    return { current: () => opened.value.current(), close: () => opened.value.close() };
  throw new SallyportError('SP_CONFIG_INVALID', {
    component: 'traces',
    detail: formatConfigProblem(opened.error),
  });
}

/**
 * Reads one header a line, `name: value`; empty lines do not count.
 *
 * @returns The headers, names in lower case; or which line is none, without any of it.
 */
export function parseHeaders(
  text: string,
): Result<Readonly<Record<string, string>>, { readonly found: string; readonly expected: string }> {
  const headers = new Map<string, string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const [, sent = '', value = ''] = LINE.exec(line) ?? [];
    const name = sent.toLowerCase();
    if (name === '' || RESERVED.has(name) || headers.has(name))
      return wrong(`something else in line ${index + 1}`);
    headers.set(name, value);
  }
  if (headers.size === 0 || headers.size > HEADERS_MAX) return wrong(`${headers.size} headers`);
  return accept(Object.fromEntries(headers));
}

function wrong(
  found: string,
): Result<never, { readonly found: string; readonly expected: string }> {
  return refuse({
    found,
    expected: `1 to ${HEADERS_MAX} headers, one a line, each name: value, each name once`,
  });
}
