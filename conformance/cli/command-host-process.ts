/**
 * Runs one command after another in one process, each as if it had been started: with arguments, variables
 * and a working folder of its own. Loading the modules is most of what a command costs.
 *
 * @module
 */

import { takeStdout } from '../wire/take-stdout.ts';

/** What the test sends: one command. */
interface Command {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingFolder: string;
}

/** Thrown where the command would end the process. */
class Ended extends Error {}

const MAIN = new URL('../../packages/cli/src/main.ts', import.meta.url).href;
let turn = 0;
let code: number | undefined;
let stdout = '';
let stderr = '';

takeStdout((bytes) => {
  stdout += Buffer.from(bytes).toString();
});
process.stdout.write = collector((text) => {
  stdout += text;
});
process.stderr.write = collector((text) => {
  stderr += text;
});
process.exit = (given) => {
  code = Number(given ?? exitCode());
  throw new Ended();
};
// The test holds the other end.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.on('message', (command: Command) => {
  void runCommand(command).then(() => process.send?.({ code: code ?? null, stdout, stderr }));
});

async function runCommand({ args, environment, workingFolder }: Command): Promise<void> {
  process.chdir(workingFolder);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  process.argv = [process.execPath, 'sallyport', ...args];
  process.exitCode = undefined;
  [code, stdout, stderr] = [undefined, '', ''];
  turn += 1;
  try {
    // Another address each time: the entry is evaluated again, and what it imports is not.
    await import(`${MAIN}?turn=${turn}`);
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
  }
  code ??= exitCode();
  process.exitCode = undefined;
  process.stdout.removeAllListeners('error');
}

function exitCode(): number {
  return Number(process.exitCode ?? 0);
}

function collector(take: (text: string) => void): typeof process.stdout.write {
  return (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    take(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
    const done = rest.at(-1);
    if (typeof done === 'function') (done as () => void)();
    return true;
  };
}
