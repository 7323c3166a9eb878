/**
 * `sallyport sessions list`: an operator sees who is signed in.
 *
 * @module
 */

import { nameBrowser } from '@sallyport/server';
import type { Interruption } from '../process/interruption.ts';
import { createProgress } from '../sessions/progress.ts';
import { readSessions } from '../sessions/read-sessions.ts';
import { describeListed, toListJson, toPlainLine } from '../sessions/session-list.ts';
import { drawSessionTable } from '../sessions/session-table.ts';
import { type SessionsOptions, selectPrincipal, withSessions } from '../sessions/with-sessions.ts';
import type { ExitCode } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Options of the command line. */
export interface SessionsListOptions extends SessionsOptions {
  readonly limit: number;
}

/** Where the terminal does not give its width. */
const COLUMNS = 80;

/** Lists the sessions that stand, the one used last first: a table on a terminal, plain lines elsewhere. */
export async function listSessions(
  options: SessionsListOptions,
  stdio: Stdio,
  interruption: Interruption,
): Promise<ExitCode> {
  return withSessions(options, stdio, interruption, async ({ sessions }, config) => {
    const progress = createProgress(process.stderr, Date.now);
    const listed = await readSessions(sessions, {
      principal: selectPrincipal(options, config),
      limit: options.limit,
      keyRingFile: config.session.keyRingFile,
      onProgress: progress.count,
      signal: interruption.signal,
    }).finally(progress.clear);
    if (options.json === true) {
      stdio.out(toListJson(listed));
      return EXIT.ok;
    }
    const lines = stdio.isTerminal
      ? drawSessionTable(listed.rows, {
          columns: process.stdout.columns || COLUMNS,
          now: Date.now(),
          issuer: config.auth.userAuth.openId.baseUrl,
          describeBrowser: nameBrowser,
        })
      : listed.rows.map(toPlainLine);
    if (listed.rows.length > 0) for (const line of lines) stdio.out(line);
    for (const line of describeListed(listed, options.subject)) stdio.error(line);
    return EXIT.ok;
  });
}
