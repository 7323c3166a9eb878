/**
 * `sallyport agent`: a fresh token for programs in any language.
 *
 * @module
 */

import { type AgentOptions, planAgent } from '../agent/agent-plan.ts';
import { type ExitCode, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/**
 * Keeps a token fresh in a file, or gives it on a Unix socket or the loopback, until SIGTERM or SIGINT.
 *
 * @returns The exit code: 0 after a stop, 1 for a bad configuration, 2 for options that do not fit together.
 * @throws {SallyportError} As `runAgent`.
 */
export async function agent(options: AgentOptions, stdio: Stdio): Promise<ExitCode> {
  const isJson = options.json === true;
  const plan = planAgent(options, process.cwd());
  if (!plan.ok)
    return reportFailure(
      { error: 'usage', description: plan.error, hint: '', exitCode: EXIT.usage },
      isJson,
      stdio,
    );
  const { runAgent } = await import('../agent/run-agent.ts');
  return runAgent(plan.value, process.env, isJson, stdio);
}
