/**
 * A running plane into which faults are put: the embedded identity provider, `sallyport serve`, and an ingress
 * between it and the doctor. Each part is real until a test throws a switch.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as sendRequest,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createEmbeddedIdp } from '@sallyport/idp';
import { freePort } from '@sallyport/testing/wire/ports';
import { type Running, temporaryFolder } from '../../conformance/wire/process.ts';
import { createServiceHost } from '../../conformance/wire/service-host.ts';
import { doctor } from '../../packages/cli/src/commands/doctor.ts';

type Members = Readonly<Record<string, unknown>>;
/** Answers a request in place of what is real. */
export type Handler = (req: IncomingMessage, res: ServerResponse, body: string) => void;

/** What the doctor prints as JSON. */
export interface Printed {
  readonly ok: boolean;
  readonly findings: readonly {
    readonly code: string;
    readonly severity: string;
    readonly probe: string;
    readonly what: string;
    readonly evidence: readonly string[];
  }[];
  readonly probes: readonly {
    readonly id: string;
    readonly status: string;
    readonly why?: string;
  }[];
}

/** What the doctor is given. */
export interface Asked {
  /** Instead of the address in the configuration. */
  readonly url?: string;
  /** Put over the configuration of the admin service, as the doctor reads it. */
  readonly config?: Members;
  /** Further files of clients. */
  readonly clients?: readonly Members[];
  readonly offline?: boolean;
  /** Objects of a cluster. */
  readonly manifests?: readonly Members[];
  /** Path of a configuration of nginx. */
  readonly nginx?: string;
}

/** The plane under the hand of a test. */
export interface FaultyPlane {
  readonly url: string;
  readonly issuer: string;
  readonly folder: string;
  readonly webSecret: string;
  readonly serviceSecret: string;
  /** Address of the admin service itself, behind the ingress. */
  readonly service: string;
  /** Answers at the ingress, by path; `*` for each that has none. */
  readonly front: Map<string, Handler>;
  /** Answers at the identity provider, by path. */
  readonly idp: Map<string, Handler>;
  /** Headers that the ingress drops. */
  readonly dropped: Set<string>;
  /** Takes the place of each `Set-Cookie`; empty drops it. */
  setCookie: ((cookie: string) => string) | undefined;
  /** Longest head of an answer that the ingress passes on; it answers 502 to a longer one. */
  headersMaxBytes: number;
  /** Longest address that the ingress reads; it answers 414 to a longer one. */
  urlMaxLength: number;
  /** By which part of a request the ingress keeps verdicts of `/me`; `undefined`: it keeps none. */
  verdictKey: ((req: IncomingMessage) => string) | undefined;
  /** Paths that the ingress takes for protected ones, though they are open. */
  readonly closed: Set<string>;
  /** The identity provider's metadata document. */
  readonly document: Members;
  /** Puts members into the metadata document. */
  overMetadata(members: Members): void;
  /** Replaces the admin service by one with another configuration. */
  replaceService(config: Members): Promise<void>;
  /** Writes a file with a secret, or a folder for one, and gives its path. */
  write(name: string, text: string | Buffer): string;
  /** Runs the command. */
  examine(asked?: Asked): Promise<Printed & { readonly text: string }>;
  /** Every switch back to what is real. */
  mend(): void;
  close(): Promise<void>;
}

/** Client IDs of the plane. */
export const IDS = { web: 'web-app', native: 'native-app', service: 'service-app' } as const;

/** Starts it; all ports are free ones. */
export async function startFaultyPlane(): Promise<FaultyPlane> {
  const folder = temporaryFolder();
  const front = new Map<string, Handler>();
  const atIdp = new Map<string, Handler>();
  const dropped = new Set<string>();
  const closed = new Set<string>();
  const verdicts = new Map<string | undefined, number>();
  let backend = '';

  const idpServer = createServer();
  const issuer = `http://127.0.0.1:${await listen(idpServer)}`;
  const frontServer = createServer((req, res) => void answerAtFront(req, res));
  const url = `http://localhost:${await listen(frontServer)}`;
  const idp = await createEmbeddedIdp({
    issuer,
    publicUrl: url,
    stateDirectory: join(folder.path, 'idp'),
    clientIds: IDS,
    log: () => {},
  });
  idpServer.on('request', (req: IncomingMessage, res: ServerResponse) => {
    const handler = atIdp.get(pathOf(req));
    if (handler === undefined) idp.handler(req, res);
    else void readBody(req).then((body) => handler(req, res, body));
  });

  const base = {
    publicUrl: url,
    stateDirectory: join(folder.path, 'state'),
    auth: {
      appAuth: { thirdPartyConfig: { flyteClient: { clientId: IDS.native } } },
      userAuth: {
        openId: {
          baseUrl: issuer,
          clientId: IDS.web,
          clientSecretFile: idp.webClientSecretFile,
        },
      },
    },
    union: {
      auth: {
        enable: true,
        clientId: IDS.service,
        clientSecretLocation: idp.serviceClientSecretFile,
        tokenUrl: idp.tokenUrl,
        scopes: ['all'],
      },
    },
  };
  const host = createServiceHost();
  const services = new Map<string, Running>();
  const startService = async (config: Members): Promise<string> => {
    const text = JSON.stringify(merge(base, config));
    const known = services.get(text);
    if (known !== undefined) return known.url;
    const port = await freePort();
    const file = write(`serve-${services.size}.yaml`, text);
    const state = join(folder.path, `state-${services.size}`);
    const args = ['serve', '--config', file, '--port', String(port), '--state', state];
    const running = await host.start(args, {});
    services.set(text, running);
    return running.url;
  };
  backend = await startService({});
  const original = backend;
  const document = (await (
    await fetch(`${issuer}/.well-known/openid-configuration`)
  ).json()) as Members;

  const plane: FaultyPlane = {
    url,
    issuer,
    folder: folder.path,
    webSecret: readFileSync(idp.webClientSecretFile, 'utf8').trim(),
    serviceSecret: readFileSync(idp.serviceClientSecretFile, 'utf8').trim(),
    service: backend,
    front,
    idp: atIdp,
    dropped,
    setCookie: undefined,
    headersMaxBytes: Number.POSITIVE_INFINITY,
    urlMaxLength: Number.POSITIVE_INFINITY,
    verdictKey: undefined,
    closed,
    document,
    overMetadata(members) {
      atIdp.set('/.well-known/openid-configuration', json(200, { ...document, ...members }));
    },
    async replaceService(config) {
      backend = await startService(config);
    },
    write,
    examine,
    mend() {
      front.clear();
      atIdp.clear();
      dropped.clear();
      closed.clear();
      plane.setCookie = undefined;
      plane.headersMaxBytes = Number.POSITIVE_INFINITY;
      plane.urlMaxLength = Number.POSITIVE_INFINITY;
      plane.verdictKey = undefined;
      verdicts.clear();
      backend = original;
    },
    async close() {
      await Promise.all([...services.values()].map((running) => running.stop()));
      host.close();
      idp.close();
      await Promise.all([unlisten(frontServer), unlisten(idpServer)]);
      folder.remove();
    },
  };
  await ready(plane);
  return plane;

  function write(name: string, text: string | Buffer): string {
    const path = join(folder.path, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  async function examine({
    url: asked = '',
    config,
    clients = [],
    offline = false,
    manifests,
    nginx,
  }: Asked = {}) {
    const file = write('looked-at.yaml', JSON.stringify(merge(base, config ?? {})));
    const clientConfig = clients.map((client, at) =>
      write(`client-${at}.yaml`, JSON.stringify(client)),
    );
    const cluster =
      manifests === undefined
        ? {}
        : {
            manifests: write('manifests.json', JSON.stringify({ kind: 'List', items: manifests })),
          };
    const printed: string[] = [];
    const stdio = {
      out: (line: string) => void printed.push(line),
      error: (line: string) => void printed.push(line),
      isTerminal: false,
      isInteractive: false,
      conceal: () => {},
      cleanse: (text: string) => text,
    };
    const { signal } = new AbortController();
    const interruption = { signal, release: () => {} };
    const skip = ['machine'] as const;
    await doctor(
      asked,
      {
        ...{ config: file, clientConfig, offline, json: true, skip, ...cluster },
        ...(nginx === undefined ? {} : { nginx }),
      },
      stdio,
      interruption as never,
    );
    const text = printed.join('\n');
    return { ...(JSON.parse(text) as Printed), text };
  }

  async function answerAtFront(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await readBody(req);
    const path = pathOf(req);
    if ((req.url ?? '').length > plane.urlMaxLength) return page(414)(req, res, body);
    const handler = front.get(path) ?? front.get('*');
    if (handler !== undefined) return handler(req, res, body);
    if (isOpen(path) && !closed.has(path)) return forward(req, res, body);
    const key = plane.verdictKey?.(req);
    const verdict = verdicts.get(key) ?? (await askMe(req));
    if (key !== undefined && verdict === 200) verdicts.set(key, verdict);
    res.writeHead(verdict === 200 ? 200 : 401, { 'content-type': 'application/json' });
    res.end('{}');
  }

  function forward(req: IncomingMessage, res: ServerResponse, body: string): void {
    const sent = sendRequest(
      `${backend}${req.url ?? ''}`,
      { method: req.method ?? 'GET', headers: keptHeaders(req) },
      (answer) => {
        const cookies = (answer.headers['set-cookie'] ?? [])
          .map((cookie) => plane.setCookie?.(cookie) ?? cookie)
          .filter((cookie) => cookie !== '');
        if (answer.rawHeaders.join('').length > plane.headersMaxBytes) {
          answer.resume();
          return page(502)(req, res, body);
        }
        const headers = { ...answer.headers, 'set-cookie': cookies };
        res.writeHead(answer.statusCode ?? 502, headers);
        answer.pipe(res);
      },
    );
    sent.on('error', () => res.writeHead(502).end());
    sent.end(body);
  }

  function askMe(req: IncomingMessage): Promise<number> {
    return new Promise((resolve) => {
      const sent = sendRequest(`${backend}/me`, { headers: keptHeaders(req) }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 502);
      });
      sent.on('error', () => resolve(502));
      sent.end();
    });
  }

  function keptHeaders(req: IncomingMessage): Record<string, string | string[]> {
    const kept = Object.entries(req.headers).filter(([name]) => !dropped.has(name));
    return Object.fromEntries(kept.map(([name, value]) => [name, value ?? '']));
  }
}

/** Waits for the platform to have its metadata, which it fetches behind its start. */
async function ready({ url }: FaultyPlane): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const { status } = await fetch(`${url}/.well-known/oauth-authorization-server`);
    if (status === 200) return;
    await new Promise(setImmediate);
  }
  throw new Error('the plane has no metadata');
}

const OPEN = [
  '/me',
  '/login',
  '/callback',
  '/logout',
  '/auth/',
  '/.well-known/',
  '/config/',
  '/flyteidl2.auth.AuthMetadataService/',
  '/flyteidl.service.AuthMetadataService/',
];

function isOpen(path: string): boolean {
  return OPEN.some((open) => path === open || (open.endsWith('/') && path.startsWith(open)));
}

/** An answer in JSON. */
export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Handler {
  return (_, res) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end(JSON.stringify(body));
  };
}

/** A page, or a redirect with its headers. */
export function page(status: number, headers: Readonly<Record<string, string>> = {}): Handler {
  return (_, res) => {
    res.writeHead(status, { 'content-type': 'text/html', ...headers });
    res.end('<!doctype html><title>page</title>');
  };
}

/** Objects by member, anything else by the second. */
function merge(one: Members, two: Members): Members {
  const merged: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(two)) {
    const before = merged[name];
    merged[name] = isObject(before) && isObject(value) ? merge(before, value) : value;
  }
  return merged;
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?')[0] ?? '';
}

async function readBody(req: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of req) body += String(chunk);
  return body;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function unlisten(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
