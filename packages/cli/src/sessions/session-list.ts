/**
 * A list of sessions for programs, and what is said about it.
 *
 * @module
 */

import { toCell } from './display-width.ts';
import { writeHarmlessJson } from './harmless-json.ts';
import type { Listed } from './read-sessions.ts';
import { nameOf, type SessionRow } from './session-row.ts';

/** What is said where a subject has none: most often it is no subject. */
export const NO_SESSION: string =
  'This subject has no session; a subject is the "sub" of the identity provider, not a name or an e-mail address.';

/** One document; times in ISO 8601, texts as they were stored. */
export function toListJson({ rows, total, sealed }: Listed): string {
  return writeHarmlessJson({
    ok: true,
    sessions: rows.map((row) => ({
      id: row.id,
      issuer: row.issuer,
      subject: row.subject,
      email: row.email,
      name: row.name,
      preferred_username: row.preferredUsername,
      signed_in_at: toIso(row.createdAt),
      last_used_at: toIso(row.lastUsedAt),
      ends_at: toIso(row.endsAt),
      absolute_end: toIso(row.absoluteEnd),
      address: row.address,
      browser: row.browser,
    })),
    more: total === undefined || total > rows.length,
    sealed,
  });
}

/**
 * One session on one line: id, signed in, last used, ends, who, subject, issuer, address and browser,
 * with a tab between them.
 */
export function toPlainLine(row: SessionRow): string {
  return [
    row.id,
    toIso(row.createdAt),
    toIso(row.lastUsedAt),
    toIso(row.endsAt),
    ...[nameOf(row), row.subject, row.issuer, row.address, row.browser].map(toCell),
  ].join('\t');
}

/**
 * Sums a list up in a line or two.
 *
 * @param subject - Whose sessions were asked for; `undefined` for all.
 */
export function describeListed(
  { rows, total, sealed }: Listed,
  subject: string | undefined,
): readonly string[] {
  const lines: string[] = [];
  if (rows.length === 0) lines.push(subject === undefined ? 'There are no sessions.' : NO_SESSION);
  else if (total === rows.length) {
    const people = new Set(rows.map(({ issuer, subject }) => JSON.stringify([issuer, subject])))
      .size;
    lines.push(`${count(total, 'session')} of ${count(people, 'person', 'people')}.`);
  } else if (total === undefined)
    lines.push(`${count(rows.length, 'session')} of this subject; it has more, see --limit.`);
  else
    lines.push(
      `The ${count(rows.length, 'session')} used last, of ${total.toLocaleString('en-US')}; see --limit.`,
    );
  if (sealed > 0)
    lines.push(
      `${count(sealed, 'more session')} cannot be read: sealed with a key that left the key ring, so no server admits them.`,
    );
  return lines;
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`;
}

function toIso(at: number): string {
  return new Date(at).toISOString();
}
