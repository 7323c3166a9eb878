/**
 * What a reload is told as: an event of the audit stream, and a line for whoever looks why it failed.
 *
 * @module
 */

import { formatConfigProblem } from '@sallyport/config';
import { createAudit, type Log, NO_REQUEST, NOBODY } from '@sallyport/server/observe';
import type { ReloadOutcome } from './reloads.ts';

/** It is done with a file and a signal: no request, and nobody the IdP knows. */
const BY_NOBODY = { ...NOBODY, session: undefined, ...NO_REQUEST };

/** Tells the log that the service starts with a configuration. */
export function logStart(log: Log, file: string | undefined): void {
  createAudit(log)({ event: 'configuration_loaded', ...BY_NOBODY, reason: 'started', file });
}

/**
 * Tells the log what became of a reload: keys that changed, and what is wrong, never a value that is no
 * part of a problem.
 *
 * @param file - Path of the configuration file, when there is one.
 */
export function logReload(log: Log, file: string | undefined, outcome: ReloadOutcome): void {
  const { event, reason } = outcome;
  const audit = createAudit(log);
  switch (event) {
    case 'configuration_loaded':
      audit({ event, ...BY_NOBODY, reason, file, changed: outcome.changed });
      for (const warning of outcome.warnings)
        log('warn', 'configuration', { problem: formatConfigProblem(warning) });
      break;
    case 'configuration_refused': {
      const { changed = null, problem } = outcome;
      audit({ event, ...BY_NOBODY, reason, file, changed, problem });
      // The audit stream may be a file that nobody looks into at the moment.
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
