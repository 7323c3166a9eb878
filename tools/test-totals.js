/**
 * Prints `N passed, N failed` from a Vitest JSON report, and ends with a failure when anything failed.
 *
 * `node tools/test-totals.js REPORT STATUS`: a run that ended badly without a failed test (a check
 * before the tests, a crash) counts as one failure; so does a skipped test, because this is only run
 * where every part is installed.
 */

import { readFileSync } from 'node:fs';

const [report = '', status = '1'] = process.argv.slice(2);
let passed = 0;
let failed = 0;
try {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(
    readFileSync(report, 'utf8'),
  );
  passed = numPassedTests;
  failed = numFailedTests + numPendingTests + numTodoTests;
  if (numPendingTests + numTodoTests > 0)
    console.log(`${numPendingTests + numTodoTests} tests were skipped`);
} catch {
  console.log('no test ran');
  failed = 1;
}
if (failed === 0 && (status !== '0' || passed === 0)) failed = 1;
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
