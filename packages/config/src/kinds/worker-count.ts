/**
 * How many processes answer.
 *
 * @module
 */

import { accept } from '@sallyport/protocol';
import { integerKind, type Kind, wrong } from './kind.ts';

/** More processes than that would wait for each other at the session store. */
export const WORKERS_MAX = 64;

/** A whole number from 1, or the word `auto`, which `serve` turns into a number. */
export function workerCountKind(max: number): Kind<number | 'auto'> {
  const count = integerKind(1, max);
  const expected = `${count.expected}, or auto`;
  return {
    name: 'integer or auto',
    expected,
    parse: (value) => {
      if (value === 'auto') return accept(value);
      const parsed = count.parse(value);
      return parsed.ok ? parsed : wrong(expected);
    },
    fromText: (text) => count.fromText(text),
    print: (value) => value,
  };
}
