/**
 * `sallyport inject`: the admission webhook that gives task pods their API key.
 *
 * @module
 */

import { readInjectionSettings, reportProblems } from '../admin/configuration.ts';
import { type InjectOptions, planInjection } from '../inject/inject-plan.ts';
import { runInject } from '../inject/run-inject.ts';
import { type ExitCode, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/**
 * Answers the reviews of the API server until SIGTERM or SIGINT.
 *
 * @returns The exit code: 0 after a stop, 1 for a bad configuration or certificate, 2 for options that are none.
 * @throws {SallyportError} As `runInject`.
 */
export async function inject(options: InjectOptions, stdio: Stdio): Promise<ExitCode> {
  const isJson = options.json === true;
  const plan = planInjection(options, process.cwd());
  if (!plan.ok)
    return reportFailure(
      { error: 'usage', description: plan.error, hint: '', exitCode: EXIT.usage },
      isJson,
      stdio,
    );
  const settings = readInjectionSettings(options, process.env);
  if (!settings.ok) {
    reportProblems(settings.error, isJson, stdio);
    return EXIT.failure;
  }
  return runInject(plan.value, settings.value, isJson, stdio);
}
