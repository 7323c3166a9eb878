/**
 * Prints `N passed, N failed` from Vitest JSON reports, and ends with a failure when anything failed.
 *
 * `node tools/test-totals.js REPORT STATUS [REPORT STATUS ...]`: a run that ended badly without a failed test (a check
 * before the tests, a crash) counts as one failure; so does a skipped test, because this is only run
 * where every part is installed.
 */

import { readFileSync } from 'node:fs';

/** @param {string} report @param {string} status */
function totalsOf(report, status) {
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
  return { passed, failed };
}

const reports = process.argv.slice(2);
let passed = 0;
let failed = reports.length === 0 ? 1 : 0;
for (let i = 0; i < reports.length; i += 2) {
  const run = totalsOf(reports[i] ?? '', reports[i + 1] ?? '1');
  passed += run.passed;
  failed += run.failed;
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
