/**
 * `npm run soak -- --seconds N`: the steady load that the test suite runs for 45 seconds, for longer.
 *
 * @module
 */

import { spawn } from 'node:child_process';
import { parseSoakSeconds, USAGE } from './suite/soak-seconds.ts';

const FILE = 'interop/load/steady.test.ts';

function main(): void {
  let seconds: number | undefined;
  try {
    seconds = parseSoakSeconds(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  if (seconds === undefined) console.log(USAGE);
  else run(seconds);
}

function run(seconds: number): void {
  const child = spawn('npx', ['--no-install', 'vitest', 'run', '--project', 'load', FILE], {
    stdio: 'inherit',
    env: { ...process.env, STEADY_LOAD_SECONDS: String(seconds) },
  });
  child.once('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}

main();
