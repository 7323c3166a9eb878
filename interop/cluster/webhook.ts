/**
 * The webhook as a process, with a certificate for `localhost`.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { scrape } from '../../conformance/observe/scrape.ts';
import {
  type Place,
  type Running,
  start,
  temporaryFolder,
} from '../../conformance/wire/process.ts';
import { createWebhookCertificates, type WebhookCertificates } from './webhook-certificates.ts';

/** A webhook that runs. */
export interface Webhook {
  /** Where it is asked, by a name that its certificate has. */
  readonly url: string;
  readonly port: number;
  readonly certificates: WebhookCertificates;
  readonly process: Running;
  /** The value of a series, such as `sallyport_inject_reviews_total{outcome="injected"}`. */
  metric(series: string): Promise<number>;
  /** Ends it, and removes its files. */
  stop(): Promise<number | null>;
}

/** How it is started. */
export interface WebhookOptions {
  /** Text of its file. */
  readonly configuration?: string;
  readonly drainDelay?: string;
  /** A port of its own choice when absent. */
  readonly port?: number;
  /** Where it runs; beside the test when absent. */
  readonly place?: Place;
}

/** Starts it. */
export async function startWebhook({
  configuration = '',
  drainDelay = '0s',
  port: wanted = 0,
  place,
}: WebhookOptions = {}): Promise<Webhook> {
  const folder = temporaryFolder();
  const certificates = createWebhookCertificates(folder.path);
  const metricsPort = await freePort();
  const config = join(folder.path, 'sallyport.yaml');
  writeFileSync(config, configuration);
  const args = [
    ...['inject', '--config', config, '--listen', `127.0.0.1:${wanted}`],
    ...['--tls-cert', certificates.certFile, '--tls-key', certificates.keyFile],
    ...['--metrics', `127.0.0.1:${metricsPort}`, '--drain-delay', drainDelay],
  ];
  const surroundings = place === undefined ? {} : { place };
  const process = await start(args, {}, surroundings).catch((error: unknown) => {
    folder.remove();
    throw error;
  });
  const { port, pathname } = new URL(process.url);
  return {
    url: `https://localhost:${port}${pathname}`,
    port: Number(port),
    certificates,
    process,
    async metric(series) {
      return (await scrape(metricsPort)).valueBySeries.get(series) ?? Number.NaN;
    },
    async stop() {
      const code = await process.stop();
      folder.remove();
      return code;
    },
  };
}
