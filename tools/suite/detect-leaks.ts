/**
 * Fails a test file that leaves something global behind: files share their workers.
 *
 * Compared before and after each file: environment (and so the time zone), working folder, umask, listeners of the
 * process, the dispatcher of `fetch`, and the globals and methods that a test may replace: fake timers and spies that
 * stay are found by them. Not compared: the state of modules, and open handles.
 *
 * @module
 */

import { afterAll } from 'vitest';
import { describeGlobals, differencesOf } from './globals.ts';

// The first call of `fetch` makes its dispatcher.
await fetch('data:,');
const before = describeGlobals();

afterAll(() => {
  const leaks = differencesOf(before, describeGlobals());
  if (leaks.length > 0) throw new Error(`this file leaves behind: ${leaks.join(', ')}`);
});
