/**
 * A reload in the audit stream, and in the log where it failed.
 *
 * @module
 */

import { formatConfigProblem } from '@sallyport/config';
import { createAudit, type Log, NO_PRINCIPAL, NO_REQUEST } from '@sallyport/server/observe';
import type { ReloadOutcome } from './reloads.ts';

/** A reload comes from a file or a signal: there is no request and no principal. */
const BY_NO_PRINCIPAL = { ...NO_PRINCIPAL, session: undefined, ...NO_REQUEST };

/** Writes the audit event of the start. */
export function logStart(log: Log, file: string | undefined): void {
  createAudit(log)({ event: 'configuration_loaded', ...BY_NO_PRINCIPAL, reason: 'started', file });
}

/**
 * Writes the outcome of a reload: keys that changed, and problems. No value is written unless it is part of a
 * problem.
 *
 * @param file - Path of the configuration file, when there is one.
 */
export function logReload(log: Log, file: string | undefined, outcome: ReloadOutcome): void {
  const { event, reason } = outcome;
  const audit = createAudit(log);
  switch (event) {
    case 'configuration_loaded':
      audit({ event, ...BY_NO_PRINCIPAL, reason, file, changed: outcome.changed });
      for (const warning of outcome.warnings)
        log('warn', 'configuration', { problem: formatConfigProblem(warning) });
      break;
    case 'configuration_refused': {
      const { changed = null, problem } = outcome;
      audit({ event, ...BY_NO_PRINCIPAL, reason, file, changed, problem });
      // The audit stream may be a file: the log is where an operator looks first.
      log('error', 'configuration_kept', {
        problem,
        detail: 'the configuration before stays in effect',
      });
      break;
    }
    case 'configuration_good_again':
      log('info', 'configuration_good_again', {
        reason,
        detail: 'the file holds the configuration in effect again',
      });
      break;
    case 'configuration_superseded':
      log('info', event, { reason });
      break;
    case 'configuration_restored':
      log('info', 'configuration_restored', { reason });
      break;
    case 'configuration_mixed':
      log('error', 'configuration_mixed', {
        reason,
        problem: outcome.problem,
        detail: 'some workers may have the refused configuration; reload, or restart with SIGUSR2',
      });
  }
}
