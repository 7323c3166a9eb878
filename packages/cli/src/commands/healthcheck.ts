/**
 * `sallyport healthcheck`: whether the service on this machine is ready, as an exit code.
 *
 * @module
 */

import { formatConfigProblem, type ListenConfig } from '@sallyport/config';
import { type ConfigurationOptions, readListenPlace } from '../admin/configuration.ts';
import { placeOf } from '../serve/announce-ready.ts';
import { askProbe, type ProbedPlace } from '../serve/ask-probe.ts';
import { type ExitCode, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';

/** Options of the command line. */
export interface HealthcheckOptions extends Pick<ConfigurationOptions, 'config'> {
  /** In place of what the configuration says: an origin with the scheme http, or `unix:` and a path; checked already. */
  readonly url?: string;
  /** Asks `/healthz` instead of `/readyz`. */
  readonly live?: boolean;
  readonly json?: boolean;
}

/** Less than what the image's HEALTHCHECK waits, start of the process included. */
const TIMEOUT_MS = 3_000;
/** Addresses to listen on that are none to connect to. */
const CONNECTED: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
const UNIX = 'unix:';
const HTTP_PORT = 80;

/**
 * Asks the service once and writes one line.
 *
 * Reads only where the service listens: not whether the rest of its configuration is valid, and no secret.
 *
 * @returns 0 when it is ready (with `live`: when it answers), else 1.
 */
export async function healthcheck(
  { url, live = false, json = false, config }: HealthcheckOptions,
  stdio: Stdio,
): Promise<ExitCode> {
  const fail = (error: string, description: string): ExitCode =>
    reportFailure({ error, description, hint: '', exitCode: EXIT.failure }, json, stdio);
  let listen: ListenConfig;
  if (url === undefined) {
    const read = readListenPlace(config === undefined ? {} : { config }, process.env);
    if (!read.ok) {
      const [problem] = read.error;
      return fail(
        'invalid_configuration',
        problem === undefined ? '' : formatConfigProblem(problem),
      );
    }
    listen = read.value;
  } else listen = parsePlace(url);
  const { port } = listen.listen;
  if (listen.server.listen === '' && port === 0)
    return fail(
      'invalid_configuration',
      'listen.port is 0, which names no port to ask; give --url',
    );
  const place = placeOf(listen, port);
  const probe = live ? 'alive' : 'ready';
  const answered = await askProbe(toProbedPlace(listen), probe, TIMEOUT_MS);
  if (!answered.ok) return fail(answered.error.error, `${place}: ${answered.error.why}`);
  stdio.out(json ? JSON.stringify({ ok: true, probe, url: place }) : `${probe} ${place}`);
  return EXIT.ok;
}

function toProbedPlace({ server, listen: { host, port } }: ListenConfig): ProbedPlace {
  return server.listen === ''
    ? { host: CONNECTED[host] ?? host, port }
    : { socketPath: server.listen.slice(UNIX.length) };
}

function parsePlace(text: string): ListenConfig {
  if (text.startsWith(UNIX)) return { listen: { host: '', port: 0 }, server: { listen: text } };
  const { hostname, port } = new URL(text);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return {
    listen: { host, port: port === '' ? HTTP_PORT : Number(port) },
    server: { listen: '' },
  };
}
