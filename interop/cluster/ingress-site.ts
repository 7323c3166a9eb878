/**
 * The chart's Ingress objects on a real nginx, in front of `sallyport serve` or of a check of the test's own.
 *
 * @module
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { Browser } from '../../conformance/wire/browser.ts';
import {
  exchange,
  type Received,
  type Sent,
  type TlsPlace,
} from '../../conformance/wire/exchange.ts';
import { type Service, startHostedService } from '../../conformance/wire/platform.ts';
import type { ServiceHost } from '../../conformance/wire/service-host.ts';
import { type Answer, type Backend, echo, startBackend } from '../nginx/backend.ts';
import {
  type EchoClient,
  type GrpcBackend,
  openClient,
  type ServiceKind,
  startGrpcBackend,
} from '../nginx/grpc-backend.ts';
import { createPrefix, NGINX, startNginx } from '../nginx/nginx.ts';
import { type Part, partAt } from '../parts.ts';
import { createCertificates } from '../redis/certificates.ts';
import { HELM, type KubernetesObject, render } from './helm.ts';
import { type ControllerSettings, MODULES, translate } from './ingress-nginx.ts';

/** The modules of nginx that ingress-nginx has, too. */
const SET_MISC: Part = partAt(
  'libnginx-mod-http-set-misc',
  MODULES.every((file) => existsSync(file)) ? MODULES[0] : undefined,
  'the modules of the Debian package are not there',
);

/** Whether to leave out what needs all parts. */
export const IS_LEFT_OUT: boolean = [HELM, NGINX, SET_MISC].some(({ isLeftOut }) => isLeftOut);

/** Host of the platform, in the chart's `publicUrl`. */
export const HOST = 'platform.example.com';
/** Its origin. */
export const ORIGIN: string = `https://${HOST}`;

/** Every backend of the route table but the admin service, and a second one for the admin service's API. */
const BACKENDS = [
  'actions',
  'admin',
  'artifacts',
  'authorizer',
  'cacheservice',
  'cluster',
  'console',
  'datacatalog',
  'dataproxy',
  'executions',
  'grafana',
  'identity',
  'leasor',
  'organizations',
  'redoc',
  'usage',
] as const;

/** Values under which every backend runs, each behind a Service of its name. */
export const ALL_BACKENDS: Readonly<Record<string, object>> = Object.fromEntries(
  BACKENDS.map((name) => [name, { service: `${name}-service`, port: 80, grpcPort: 81 }]),
);

/** One nginx with the chart's Ingress objects. */
export interface Site {
  readonly place: TlsPlace;
  /** Sends one request to a path of the platform. */
  ask(path: string, sent?: Sent): Promise<Received>;
  openClient(kind: ServiceKind): EchoClient;
  browser(): Browser;
  /** What reached HTTP backends since the last time, the service itself left out; oldest first. */
  arrived(): readonly { readonly service: string; readonly seen: Backend['seen'][number] }[];
  /** What reached gRPC backends. */
  readonly rpc: GrpcBackend['seen'];
  /** Answers the next requests at every HTTP backend. */
  answer(answer?: Answer): void;
  /** How many verdicts lie in the cache. */
  kept(): number;
  stop(): Promise<void>;
}

/** What a test may choose about a site. */
export interface SiteOptions {
  /** Values below `ingress`. */
  readonly ingress?: Readonly<Record<string, unknown>>;
  /** Address of the Service of the chart: HTTP/1.1 and HTTP/2 without TLS. */
  readonly service: string;
  readonly settings?: ControllerSettings;
  /** An annotation that is taken out of every object, by its suffix. */
  readonly without?: string;
}

/** Starts it. */
export async function startSite({
  ingress = {},
  service,
  settings,
  without,
}: SiteOptions): Promise<Site> {
  const rendered = await render({
    chart: 'sallyport',
    values: { publicUrl: ORIGIN, ingress: { enabled: true, backends: ALL_BACKENDS, ...ingress } },
  });
  const objects = without === undefined ? rendered : rendered.map((each) => omit(each, without));
  const prefix = createPrefix();
  const certificates = createCertificates(prefix.path, HOST);
  const backends = new Map<string, Backend>();
  for (const name of BACKENDS) backends.set(`${name}-service`, await startBackend());
  const grpc = await startGrpcBackend();
  const port = await freePort();
  const nginx = await startNginx(
    prefix,
    translate(
      objects,
      {
        port,
        ...certificates.server,
        serviceAddress(name, servicePort) {
          if (name === 'sallyport') return new URL(service).host;
          const backend = backends.get(name) ?? backends.get(`${name}-service`);
          if (backend === undefined) throw new Error(`no Service ${name}`);
          return servicePort === 81 ? grpc.address : new URL(backend.url).host;
        },
      },
      settings,
    ),
    MODULES,
  );
  const agent = new Agent({ keepAlive: true });
  const place = { port, ca: readFileSync(certificates.caFile), agent };
  return {
    place,
    ask: (path, sent) => exchange(ORIGIN + path, sent, place),
    openClient: (kind) => openClient(`127.0.0.1:${port}`, kind, { host: HOST, ca: place.ca }),
    browser: () => new Browser(true, place),
    arrived: () =>
      [...backends].flatMap(([name, { seen }]) =>
        seen.splice(0).map((each) => ({ service: name, seen: each })),
      ),
    rpc: grpc.seen,
    answer(answer = echo) {
      for (const backend of backends.values()) backend.answer = answer;
    },
    kept: () =>
      readdirSync(join(prefix.path, 'cache'), { recursive: true, withFileTypes: true }).filter(
        (entry) => entry.isFile(),
      ).length,
    async stop() {
      agent.destroy();
      await nginx.stop();
      grpc.close();
      await Promise.all([...backends.values()].map((backend) => backend.close()));
      prefix.remove();
    },
  };
}

/** Starts `sallyport serve` for the platform's origin. @param host - Its process, when its clock is moved. */
export function startPlatformService(host?: ServiceHost): Promise<Service> {
  return startHostedService({ PUBLIC_URL: ORIGIN }, [], undefined, [], host);
}

/** Signs a person in through a site, the test playing the IdP's part. @returns The session cookie. */
export async function signIn(site: Site, service: Service, subject: string): Promise<string> {
  const browser = site.browser();
  service.idp.forge = (forgery) =>
    service.idp.honest({ ...forgery, claims: { ...forgery.claims, sub: subject, name: subject } });
  service.idp.userInfo = { sub: subject };
  const sent = await browser.step(`${ORIGIN}/login?redirect_url=%2F`);
  const answer = service.idp.authorize(sent.location ?? '');
  await browser.step(`${ORIGIN}/callback?${answer.toString()}`);
  const [name = ''] = browser.cookieNames(HOST).filter((each) => each.endsWith('core_session'));
  return `${name}=${browser.cookie(HOST, name)}`;
}

function omit(object: KubernetesObject, suffix: string): KubernetesObject {
  const kept = Object.entries(object.metadata.annotations ?? {}).filter(
    ([name]) => !name.endsWith(`/${suffix}`),
  );
  return { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(kept) } };
}
