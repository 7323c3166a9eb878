import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { ClientRequestArgs, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../conformance/wire/process.ts';
import { type SecurePlane, startSecurePlane } from '../python/secure-plane.ts';
import { type InternalService, startInternalService } from './internal-service.ts';

const USER_INFO = '/flyteidl2.auth.IdentityService/UserInfo';

let plane: SecurePlane;
beforeAll(async () => {
  plane = await startSecurePlane();
});
afterAll(() => plane.stop());

/**
 * A network in which the plane's port is 443 of its host. Certificates are verified for the name that was
 * asked for, against these authorities.
 */
function createNetwork(certificates: string) {
  const ports: number[] = [];
  class Redirected extends Agent {
    override createConnection(
      options: ClientRequestArgs,
      connected?: (cause: Error | null, stream: Duplex) => void,
    ): Duplex | null | undefined {
      ports.push(Number(options.port));
      return super.createConnection({ ...options, port: new URL(plane.url).port }, connected);
    }
  }
  const agent = new Redirected({ ca: certificates });
  const reach = async (input: string | URL | Request, init: RequestInit = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.protocol !== 'https:') return fetch(url, init);
    const headers = Object.fromEntries(new Headers(init.headers));
    const sent = request(url, { agent, method: init.method ?? 'GET', headers });
    sent.end(init.body ?? undefined);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return new Response(await text(answer), {
      status: answer.statusCode ?? 0,
      headers: Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
    });
  };
  return { ports, fetch: reach };
}

/** A pod that is given nothing but the key. */
function startPod(clientSecret: string, send: typeof fetch): InternalService {
  const fields = ['localhost', plane.serviceClientId, clientSecret, ''];
  return startInternalService({
    block: 'admin',
    environment: { EAGER_API_KEY: Buffer.from(fields.join(':')).toString('base64') },
    fetch: send,
  });
}

const call = (pod: InternalService) =>
  pod.fetch(`https://localhost${USER_INFO}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });

const secret = () => readFileSync(plane.serviceSecretFile, 'utf8');

describe('A task pod with EAGER_API_KEY, whose endpoint is a bare host', () => {
  it('reaches it at port 443 over verified TLS, and enters with the credentials in the key', async () => {
    const network = createNetwork(readFileSync(plane.caFile, 'utf8'));
    const answer = await call(startPod(secret(), network.fetch));
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ subject: plane.serviceClientId });
    expect(new Set(network.ports)).toEqual(new Set([443]));
  });

  it('with a key of "apikey create" it is the client of that key, until "apikey revoke" ends it', async () => {
    const state = ['--state', dirname(plane.logFile), '--json'];
    const owner = ['--organization', 'acme', '--cluster', 'east-1'];
    const created = await run(['apikey', 'create', ...owner, ...state]);
    const { clientId, key } = JSON.parse(created.stdout) as {
      readonly clientId: string;
      readonly key: string;
    };
    const network = createNetwork(readFileSync(plane.caFile, 'utf8'));
    const start = () =>
      startInternalService({
        block: 'admin',
        environment: { EAGER_API_KEY: key, KUBERNETES_SERVICE_HOST: '10.0.0.1' },
        fetch: network.fetch,
      });
    expect(await (await call(start())).json()).toMatchObject({ subject: clientId });
    expect((await run(['apikey', 'revoke', clientId, ...state])).code).toBe(0);
    expect(await start().tokenSource.get()).toMatchObject({ error: { error: 'invalid_client' } });
    expect((await call(startPod(secret(), network.fetch))).status).toBe(200);
  });

  it('sends nothing where the certificate is of an authority that is not trusted', async () => {
    const { fetch: send } = createNetwork('');
    await plane.tokenRequests();
    await expect(call(startPod(secret(), send))).rejects.toThrow();
    expect(await plane.tokenRequests()).toEqual([]);
  });

  it('with another secret in it gets no token, and no request of it reaches the platform', async () => {
    const network = createNetwork(readFileSync(plane.caFile, 'utf8'));
    const pod = startPod('canary-other', network.fetch);
    expect(await pod.tokenSource.get()).toMatchObject({ error: { error: 'invalid_client' } });
    await expect(call(pod)).rejects.toThrow();
  });
});
