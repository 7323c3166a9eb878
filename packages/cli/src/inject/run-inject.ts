/**
 * The webhook at work: composed, its certificate followed, stopped.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { InjectionSettings } from '@sallyport/kubernetes/inject';
import { boundLog, type Log } from '@sallyport/server/observe';
import { describeFile, watchFile } from '../admin/watch-file.ts';
import { boundLines } from '../observe/bounded-lines.ts';
import { createLineLog } from '../observe/line-log.ts';
import { stopSignal } from '../process/stop-signal.ts';
import { systemSchedule } from '../process/system-schedule.ts';
import { announceReady } from '../serve/announce-ready.ts';
import { type ExitCode, reportFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';
import { createWebhookHandler, REVIEW_PATH } from './answer-webhook.ts';
import { type ReadCertificate, readCertificate } from './certificate-files.ts';
import { createInjectMetrics, type InjectMetrics } from './inject-metrics.ts';
import type { InjectPlan } from './inject-plan.ts';
import { CONNECTIONS_MAX, listenForReviews, type WebhookListener } from './webhook-listener.ts';

/**
 * Answers reviews until SIGTERM or SIGINT. Writes `ready <address>` once it listens. Changed certificate files are used within
 * two seconds; unusable ones are reported, and the certificate before stays.
 *
 * At the end it says at `/readyz` that it drains, answers for the drain delay as before, and then closes.
 *
 * @returns 0 after a stop, 1 when the certificate cannot be used at the start.
 * @throws {SallyportError} `SP_PORT_IN_USE`, `SP_LISTEN_FAILED`.
 */
export async function runInject(
  { listen, paths, metrics: place, drainDelayMs }: InjectPlan,
  settings: InjectionSettings,
  isJson: boolean,
  stdio: Stdio,
): Promise<ExitCode> {
  const files = [paths.certificate, paths.key];
  const known = files.map((path) => describeFile(path));
  const first = readCertificate(paths);
  if (!first.ok)
    return reportFailure(
      {
        error: 'certificate_unusable',
        description: first.error,
        hint: '',
        exitCode: EXIT.failure,
      },
      isJson,
      stdio,
    );
  const { log, close: closeLog } = openLog();
  const metrics = createInjectMetrics(log);
  let certificate = first.value;
  let isDraining = false;
  const handler = createWebhookHandler({
    settings,
    isDraining: () => isDraining,
    count: metrics.count,
    log,
  });
  const listener = await listenForReviews({
    ...listen,
    certificate,
    handler,
    onCrowded(state) {
      metrics.countClosed(state);
      log('warn', 'connection_limit', { limit: CONNECTIONS_MAX, closed: state });
    },
  });
  const scrapes =
    place === undefined
      ? undefined
      : await metrics
          .listen(place, () => certificate.expiresAt)
          .catch(async (cause: unknown) => {
            await listener.close();
            throw cause;
          });
  const stopWatching = files.map((path, index) =>
    watchFile({ path, known: known[index], schedule: systemSchedule, onChange: reload }),
  );
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  const places = {
    url: `https://${host}:${listener.port}${REVIEW_PATH}`,
    ...(place === undefined ? {} : { metrics: `http://${place.host}:${scrapes?.port}/metrics` }),
  };
  log('info', 'inject_listening', { ...places, ...describe(certificate) });
  // A program that waits for the ready line may send SIGTERM at once.
  const stopRequested = stopSignal();
  if (isJson) stdio.out(JSON.stringify({ ready: true, ...places }));
  else announceReady(Object.values(places).join(' '), stdio);

  const signal = await stopRequested;
  log('info', 'stopping', { signal });
  isDraining = true;
  await pause(drainDelayMs);
  for (const stop of stopWatching) stop();
  await listener.close();
  await scrapes?.close();
  closeLog();
  return EXIT.ok;

  function reload(): void {
    certificate = exchangeCertificate(readCertificate(paths), certificate, listener, metrics, log);
  }
}

function exchangeCertificate(
  read: ReturnType<typeof readCertificate>,
  before: ReadCertificate,
  listener: WebhookListener,
  metrics: InjectMetrics,
  log: Log,
): ReadCertificate {
  if (!read.ok) {
    metrics.countCertificate('kept');
    log('error', 'certificate_kept', { detail: read.error });
    return before;
  }
  // Both files are watched, and may have changed together.
  if (read.value.cert === before.cert && read.value.key === before.key) return before;
  listener.use(read.value);
  metrics.countCertificate('loaded');
  log('info', 'certificate_loaded', describe(read.value));
  return read.value;
}

function describe({ expiresAt }: ReadCertificate) {
  return { expires: new Date(expiresAt).toISOString() };
}

function openLog() {
  const stderr = boundLines(process.stderr, (lines) =>
    plain('warn', 'log_lines_left_out', { lines }),
  );
  const plain: Log = createLineLog('info', Date.now, (line) => stderr.write(line));
  return boundLog(plain, systemSchedule);
}
