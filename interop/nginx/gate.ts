/**
 * The recipe in front of backends: with a check of the test's own, or with `sallyport serve`.
 *
 * @module
 */

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import type { Browser } from '../../conformance/wire/browser.ts';
import type { Received } from '../../conformance/wire/exchange.ts';
import { type Service, startService } from '../../conformance/wire/platform.ts';
import {
  type Answer,
  type Backend,
  createAdminService,
  type Seen,
  startBackend,
} from './backend.ts';
import { createPrefix, type RunningNginx, startNginx } from './nginx.ts';
import { RECIPE_FOLDER } from './recipe-folder.ts';

/** What a test may change about the gate. */
export interface GateOptions {
  /** Recipe files in place of the committed ones. */
  readonly files?: ReadonlyMap<string, string>;
  /** Further lines of the `server` block. */
  readonly server?: string;
  /** Further lines of the `http` block. */
  readonly http?: string;
  /** Address of what serves every gRPC upstream; without it each is down. */
  readonly grpc?: string;
}

/** nginx with the recipe, and a backend of its own behind each upstream. */
export interface Gate {
  readonly url: string;
  /** The same server on a port that speaks HTTP/2 without TLS, which nginx cannot do beside HTTP/1.1. */
  readonly http2: string;
  /** The folder that relative paths of the configuration lie in. */
  readonly folder: string;
  readonly nginx: RunningNginx;
  /** The backend of a name; `admin` answers the check too. */
  backend(name: string): Backend;
  /** What reached a backend of that name last. */
  last(name: string): Seen;
  /** What reached a backend since the last time, checks left out. */
  arrived(): readonly string[];
  stop(): Promise<void>;
}

/** A gate whose check is `sallyport serve`. */
export interface Platform extends Gate {
  readonly service: Service;
  /** Signs in through nginx, the test playing the IdP's part. */
  signIn(browser: Browser, path?: string): Promise<Received>;
}

/**
 * Starts the gate.
 *
 * @param admin - Answers for the upstream `sallyport_admin`, `/me` included.
 */
export async function startGate(
  admin: Answer,
  { files = new Map(), server = '', http = '', grpc }: GateOptions = {},
  port?: number,
): Promise<Gate> {
  const prefix = createPrefix();
  cpSync(RECIPE_FOLDER, join(prefix.path, 'sallyport'), { recursive: true });
  for (const [name, content] of files) prefix.write(join('sallyport', name), content);
  const routes = readFileSync(join(prefix.path, 'sallyport', 'routes.conf'), 'utf8');
  const names = [
    ...new Set([...routes.matchAll(/http:\/\/sallyport_([a-z-]+)/g)].map(([, name = '']) => name)),
  ];
  const backends = new Map<string, Backend>();
  for (const name of names)
    backends.set(name, await startBackend(name === 'admin' ? admin : undefined));
  const rpcNames = new Set(
    [...routes.matchAll(/grpc:\/\/(sallyport_[a-z-]+_grpc)/g)].map(([, name = '']) => name),
  );
  const rpcUpstreams = [...rpcNames].map(
    (name) => `upstream ${name} { server ${grpc ?? '127.0.0.1:1 down'}; keepalive 8; }\n`,
  );
  const listen = port ?? (await freePort());
  const http2 = await freePort();
  const upstreams = [...backends].map(
    ([name, { url }]) =>
      `upstream sallyport_${name} { server ${new URL(url).host}; keepalive 8; keepalive_timeout 2s; }\n`,
  );
  const nginx = await startNginx(
    prefix,
    `include sallyport/http.conf;
    ${upstreams.join('')}${rpcUpstreams.join('')}
    ${http}
    server {
      listen 127.0.0.1:${listen};
      listen 127.0.0.1:${http2} http2;
      server_name localhost;
      set $sallyport_public_scheme http;
      set $sallyport_public_host localhost:${listen};
      ${server}
      include sallyport/routes.conf;
    }`,
  );
  const find = (name: string) => {
    const backend = backends.get(name);
    if (backend === undefined) throw new Error(`no upstream sallyport_${name}`);
    return backend;
  };
  return {
    url: `http://localhost:${listen}`,
    http2: `localhost:${http2}`,
    folder: prefix.path,
    nginx,
    backend: find,
    last(name) {
      const seen = find(name).seen.at(-1);
      if (seen === undefined) throw new Error(`nothing reached ${name}`);
      return seen;
    },
    arrived() {
      return [...backends].flatMap(([name, { seen }]) =>
        seen
          .splice(0)
          .filter(({ path }) => name !== 'admin' || path !== '/me')
          .map(({ path }) => `${name} ${path}`),
      );
    },
    async stop() {
      await nginx.stop();
      await Promise.all([...backends.values()].map((backend) => backend.close()));
      prefix.remove();
    },
  };
}

/**
 * Starts `sallyport serve` behind the gate, whose address is the public URL.
 *
 * @param config - Lines of the configuration file.
 */
export async function startPlatform(config = '', options: GateOptions = {}): Promise<Platform> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const folder = createPrefix();
  const file = join(folder.path, 'sallyport.yaml');
  writeFileSync(file, `publicUrl: ${url}\n${config}`);
  const service = await startService({ PUBLIC_URL: url }, ['--config', file]);
  const gate = await startGate(createAdminService(service.url), options, port);
  return {
    ...gate,
    service,
    async signIn(browser, path = '/') {
      const sent = await browser.step(`${url}/login?redirect_url=${encodeURIComponent(path)}`);
      const answer = service.idp.authorize(sent.location ?? '');
      return browser.step(`${url}/callback?${answer.toString()}`);
    },
    async stop() {
      await gate.stop();
      await service.stop();
      folder.remove();
    },
  };
}

/** Sends bytes as they are and gives back all that comes until the other side closes. */
export function sendRaw(url: string, text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    received += chunk;
  });
  socket.on('error', reject);
  socket.on('close', () => resolve(received));
  socket.write(text, 'latin1');
  return promise;
}
