/**
 * `sallyport serve` behind the nginx recipe, at a realm that `sallyport idp apply` has set up.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import type { Browser } from '../../conformance/wire/browser.ts';
import type { Received } from '../../conformance/wire/exchange.ts';
import type { MovedClock } from '../../conformance/wire/moved-clock.ts';
import { type Running, start, stateFolder } from '../../conformance/wire/process.ts';
import type { Answer } from '../nginx/backend.ts';
import { type Gate, startGate } from '../nginx/gate.ts';
import { ADA, makeRealm, type Realm } from './realm.ts';

/** The platform and its realm. */
export interface KeycloakPlatform {
  /** Public URL, where nginx listens. */
  readonly url: string;
  readonly realm: Realm;
  readonly gate: Gate;
  readonly service: Running;
  /** Opens a page as Ada, and signs in on the way. */
  signIn(browser: Browser, path: string): Promise<Received>;
  stop(): Promise<void>;
}

/**
 * Makes the realm and sets it up, then starts the service with the variables that were written, behind nginx.
 *
 * @param lines - Of a configuration file.
 */
export async function startKeycloakPlatform(
  clock: MovedClock,
  lines: readonly string[] = [],
): Promise<KeycloakPlatform> {
  const realm = await makeRealm();
  await realm.addAda();
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const applied = await realm.idp(
    'apply',
    url,
    '--yes',
    '--rotate-refresh-tokens',
    '--cli-refresh-tokens',
  );
  if (applied.code !== 0) throw new Error(applied.stderr);
  const state = stateFolder();
  const config = join(state.path, 'sallyport.yaml');
  writeFileSync(config, `${lines.join('\n')}\n`);
  const service = await start(
    ['serve', '--port', '0', ...(lines.length > 0 ? ['--config', config] : [])],
    { ...readVariables(realm.folder), SALLYPORT_STATE_DIRECTORY: state.path },
    { clock },
  );
  const gate = await startGate(forwardTo(service.url), {}, port);
  return {
    url,
    realm,
    gate,
    service,
    async signIn(browser, path) {
      const page = await browser.visit(url + path);
      return browser.submit(page, { ...ADA });
    },
    async stop() {
      await gate.stop();
      await service.stop();
      state.remove();
      await realm.remove();
    },
  };
}

/** Reads what `idp apply` wrote for a shell. */
function readVariables(folder: string): Readonly<Record<string, string>> {
  const text = readFileSync(join(folder, 'deployment.env'), 'utf8');
  return Object.fromEntries(
    [...text.matchAll(/^(\w+)='([^']*)'$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
}

/** Answers as the service does, all of its routes. */
function forwardTo(serviceUrl: string): Answer {
  const { port } = new URL(serviceUrl);
  return (seen, res) => {
    const forwarded = request(
      { host: '127.0.0.1', port, method: seen.method, path: seen.path, headers: seen.rawHeaders },
      (answer) => {
        res.writeHead(answer.statusCode ?? 0, answer.rawHeaders);
        answer.pipe(res);
      },
    );
    forwarded.on('error', () => res.destroy());
    forwarded.end(seen.body);
  };
}
