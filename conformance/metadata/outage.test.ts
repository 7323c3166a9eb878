import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { exchange } from '../wire/exchange.ts';
import { callGrpc } from '../wire/grpc.ts';
import { showMetadata, untilMetadataIsAsked } from '../wire/metadata-asked.ts';
import { type Service, startHostedService, WEB_CLIENT_ID } from '../wire/platform.ts';
import { callConnect } from '../wire/rpc.ts';
import { type MovedHost, startMovedHost } from '../wire/service-host.ts';
import { PATIENCE } from '../wire/workers.ts';

const METADATA = '/flyteidl2.auth.AuthMetadataService/GetOAuth2Metadata';
const CONFIG = '/flyteidl2.auth.AuthMetadataService/GetPublicClientConfig';
const REST = '/.well-known/oauth-authorization-server';
const UNAVAILABLE = 14;

/** How each way to ask is answered. */
async function answers(service: Service): Promise<readonly [number, number, number]> {
  const rest = await exchange(service.url + REST);
  const grpc = await callGrpc(service.url + METADATA);
  const connect = await callConnect(service.url + METADATA);
  return [rest.status, grpc.status, connect.status];
}

const KNOWN = [200, 0, 200] as const;
const UNKNOWN = [503, UNAVAILABLE, 503] as const;

function keptFile(service: Service): string {
  const folder = join(service.state, 'metadata');
  return join(folder, readdirSync(folder)[0] ?? '');
}

let moved: MovedHost;
beforeAll(async () => {
  moved = await startMovedHost({ movesTimers: true });
});
afterAll(() => moved.close());

describe('While the IdP is down', () => {
  let service: Service;
  beforeAll(async () => {
    const idp = await startFakeIdp(WEB_CLIENT_ID);
    await idp.goDown();
    service = await startHostedService({}, [], idp, [], moved.host);
  });
  afterAll(() => service.stop());

  it('at start, discovery is unavailable with a hint when to ask again, and never an internal error', async () => {
    expect(await answers(service)).toEqual(UNKNOWN);
    const rest = await exchange(service.url + REST);
    expect(rest.headers['content-type']).toBe('application/problem+json');
    expect(Number(rest.headers['retry-after'])).toBeGreaterThan(0);
    const grpc = await callGrpc(service.url + METADATA);
    expect({ ...grpc.headers, ...grpc.trailers }).toHaveProperty('grpc-retry-pushback-ms');
    expect(JSON.parse((await callConnect(service.url + METADATA)).body)).toMatchObject({
      code: 'unavailable',
    });
  });

  it('at start, GetPublicClientConfig is answered all the same', async () => {
    expect((await callGrpc(service.url + CONFIG)).status).toBe(0);
    expect((await callConnect(service.url + CONFIG)).status).toBe(200);
    expect((await exchange(`${service.url}/config/v1/flyte_client`)).status).toBe(200);
  });

  it('discovery recovers by itself once the IdP is back', async () => {
    expect(await answers(service)).toEqual(UNKNOWN);
    await service.idp.comeUp();
    await untilMetadataIsAsked(moved.clock, service.idp);
    await expect.poll(() => answers(service), PATIENCE).toEqual(KNOWN);
  });
});

describe('While an IdP is down that was up', () => {
  let service: Service;
  /** The kept document as it was written. */
  let kept: string;
  beforeAll(async () => {
    service = await startHostedService();
  });
  afterAll(() => service.stop());

  /** It ends, and starts with the kept document that is given to it. */
  async function restarted(text: string): Promise<Service> {
    await service.running.stop();
    writeFileSync(keptFile(service), text);
    service = await service.restart();
    return service;
  }

  it('discovery answers what it knows', async () => {
    await expect.poll(() => answers(service), PATIENCE).toEqual(KNOWN);
    await expect.poll(() => readdirSync(join(service.state, 'metadata'))).toHaveLength(1);
    kept = readFileSync(keptFile(service), 'utf8');
    await service.idp.goDown();
    expect(await answers(service)).toEqual(KNOWN);
  });

  it('the kept document is the owner’s alone, and holds no key', async () => {
    expect(statSync(keptFile(service)).mode & 0o777).toBe(0o600);
    expect(kept).not.toMatch(/"(?:keys|jwks|n|k|d)":/);
  });

  it('after a restart, discovery answers from the kept document', async () => {
    expect(await answers(await restarted(kept))).toEqual(KNOWN);
  });

  it.each<readonly [string, (kept: string) => string]>([
    ['of another issuer', (text) => text.replaceAll('127.0.0.1', 'localhost')],
    [
      'older than a day',
      (text) => {
        const document = JSON.parse(text) as { fetchedAt: number };
        return JSON.stringify({ ...document, fetchedAt: document.fetchedAt - 86_400_001 });
      },
    ],
    [
      'with keys inlined',
      (text) => {
        const all = JSON.parse(text) as { document: object };
        return JSON.stringify({ ...all, document: { ...all.document, jwks: {} } });
      },
    ],
    ['that is damaged', () => '{"version":1'],
  ])('a kept document %s is not used, and the log says so', async (_, change) => {
    await restarted(change(kept));
    expect(await answers(service)).toEqual(UNKNOWN);
    expect(service.running.stderr()).toContain('kept_metadata_ignored');
  });
});

describe('An IdP whose document is not to be believed', () => {
  let doubtful: Service;
  beforeAll(async () => {
    const idp = await startFakeIdp(WEB_CLIENT_ID);
    idp.metadata = { issuer: `${idp.issuer}/` };
    doubtful = await startHostedService({}, [], idp, [], moved.host);
  });
  afterAll(() => doubtful.stop());

  it.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ['names another issuer', { issuer: 'https://evil.example' }],
    ['names its issuer with a slash more', { issuer: undefined }],
    ['names a token endpoint off https', { token_endpoint: 'http://evil.example/token' }],
    ['names no token endpoint', { token_endpoint: undefined }],
    ['is larger than any document', { padding: 'x'.repeat(1_100_000) }],
  ])('because it %s gives no discovery', async (_, metadata) => {
    const { idp } = doubtful;
    const slash = 'issuer' in metadata && metadata['issuer'] === undefined;
    await showMetadata(moved.clock, idp, slash ? { issuer: `${idp.issuer}/` } : metadata);
    expect(await answers(doubtful)).toEqual(UNKNOWN);
    expect((await exchange(doubtful.url + REST)).body).not.toContain('evil.example');
  });

  it('because it redirects gives no discovery, and the redirect is not followed', async () => {
    const asked: string[] = [];
    const server = createServer((req, res) => {
      asked.push(req.url ?? '');
      res.writeHead(302, { location: '/elsewhere' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const service = await startHostedService({ OIDC_BASE_URL: issuer });
    onTestFinished(() => service.stop());
    expect(await answers(service)).toEqual(UNKNOWN);
    expect(asked).not.toContain('/elsewhere');
  });

  it('because it never answers delays no request for longer than a few seconds', async () => {
    const { idp, url } = doubtful;
    idp.stalled.add('/.well-known/openid-configuration');
    onTestFinished(() => {
      idp.stalled.clear();
    });
    let isAnswered = false;
    const note = () => {
      isAnswered = true;
    };
    const call = callGrpc(url + METADATA).finally(note);
    const begun = moved.clock.now();
    while (!isAnswered) await moved.clock.advance(500);
    expect(moved.clock.now() - begun).toBeLessThan(10_000);
    expect((await call).status).toBe(UNAVAILABLE);
    expect((await callGrpc(url + CONFIG)).status).toBe(0);
  });

  it('with unknown members gives discovery without them', async () => {
    const idp = await startFakeIdp(WEB_CLIENT_ID);
    idp.metadata = { jwks: { keys: [{ kty: 'oct', k: 'canary-key' }] }, x_internal: 'canary-key' };
    const service = await startHostedService({}, [], idp);
    onTestFinished(() => service.stop());
    await expect.poll(() => answers(service), { timeout: 10_000 }).toEqual(KNOWN);
    expect((await exchange(service.url + REST)).body).not.toContain('canary-key');
    expect(readFileSync(keptFile(service), 'utf8')).not.toContain('canary-key');
  });
});
