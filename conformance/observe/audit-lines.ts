/**
 * What stands in the file of an audit stream.
 *
 * @module
 */

import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { type LogLine, PATIENCE } from '../wire/workers.ts';

/** The fixed fields of every line, in the order in which they stand there. */
export const FIXED_FIELDS: readonly string[] = [
  'level',
  'time',
  'event',
  'issuer',
  'subject',
  'session',
  'address',
  'browser',
  'reason',
  'request_id',
];

/**
 * The lines of a file, oldest first. A line that is no JSON object is a failure, and so is text after the last
 * line feed; a blank line is none.
 */
export function readAudit(path: string): readonly LogLine[] {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, 'utf8');
  if (text !== '' && !text.endsWith('\n')) throw new Error('a line has no end');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogLine);
}

/** Reads what is new each time it is asked. */
export function followAudit(path: string): {
  /** The next so many lines; waits for them, and fails when there are more. */
  next(count: number): Promise<readonly LogLine[]>;
} {
  let seen = 0;
  return {
    async next(count) {
      await expect
        .poll(() => readAudit(path).length, PATIENCE)
        .toBeGreaterThanOrEqual(seen + count);
      const lines = readAudit(path).slice(seen);
      seen += lines.length;
      expect(lines).toHaveLength(count);
      return lines;
    },
  };
}
