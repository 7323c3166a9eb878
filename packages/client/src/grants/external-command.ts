/**
 * A program of the user's that prints a token.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Grant, TokenRefusal } from '../grant.ts';
import { toPrintable } from '../metadata/printable.ts';
import { cancelled } from './token-endpoint.ts';
import { readExpiry } from './token-expiry.ts';
import { isToken } from './token-response.ts';

/** What the grant is about. */
export interface ExternalCommandOptions {
  /** Program and arguments. */
  readonly command: readonly string[];
  /** Milliseconds the program may take; 60 s when absent. */
  readonly timeoutMs?: number;
  readonly now: () => number;
}

const OUTPUT_MAX_BYTES = 131_072;

/**
 * Creates the grant: what the program prints, without the white space around it, is the access token.
 *
 * No shell is involved. What the program writes besides, and its arguments, are in no message, since
 * either may hold a secret.
 */
export function createExternalCommandGrant({
  command,
  timeoutMs = 60_000,
  now,
}: ExternalCommandOptions): Grant {
  return {
    kind: 'external_command',
    isInteractive: false,
    async obtain({ signal } = {}) {
      const obtainedAt = now();
      const output = await run(command, timeoutMs, signal);
      if (!output.ok) return output;
      const accessToken = output.value.trim();
      if (!isToken(accessToken))
        return refuse(
          describe(
            command,
            accessToken === '' ? 'printed nothing' : 'printed something that is no token',
          ),
        );
      return accept({
        accessToken,
        expiresAt: readExpiry(accessToken),
        obtainedAt,
        refreshToken: undefined,
        scopes: [],
      });
    },
  };
}

function run(
  command: readonly string[],
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Result<string, TokenRefusal>> {
  const [program = '', ...args] = command;
  if (signal?.aborted === true) return Promise.resolve(refuse(cancelled()));
  return new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      {
        shell: false,
        encoding: 'utf8',
        timeout: timeoutMs,
        maxBuffer: OUTPUT_MAX_BYTES,
        killSignal: 'SIGKILL',
        windowsHide: true,
        ...(signal === undefined ? {} : { signal }),
      },
      (error, stdout) => {
        if (error === null) resolve(accept(stdout));
        else if (signal?.aborted === true) resolve(refuse(cancelled()));
        else resolve(refuse(describe(command, describeFailure(error))));
      },
    );
    // It must not wait for input.
    child.stdin?.end();
  });
}

function describeFailure(error: Error): string {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'printed too much';
  if (code === 'ENOENT') return 'does not exist';
  if (code === 'EACCES') return 'may not be run';
  if ('killed' in error && error.killed === true) return 'did not end in time';
  return typeof code === 'number' ? `failed with exit code ${code}` : 'failed';
}

function describe([program = '']: readonly string[], what: string): TokenRefusal {
  return {
    error: 'command_failed',
    description: `The command ${JSON.stringify(toPrintable(program, 100))} of admin.command ${what}.`,
    hint: 'Run it by hand: it must print an access token, and nothing else, on its standard output.',
  };
}
