import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callGrpc } from '../../conformance/wire/grpc.ts';
import { type Plane, startPlane } from '../../conformance/wire/platform.ts';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { readFields } from '../../conformance/wire/protobuf.ts';
import { callConnect } from '../../conformance/wire/rpc.ts';
import { sharedHost } from '../../conformance/wire/service-host.ts';
import {
  type Given,
  type InternalService,
  problemsOf,
  startInternalService,
} from './internal-service.ts';

/** A protected route: a caller that gets an answer has passed the ingress and the admin service. */
const USER_INFO = '/flyteidl2.auth.IdentityService/UserInfo';
const CONTROL_PLANE = '/etc/secrets/union/client_secret';
const ADMIN_SECRETS = '/etc/secrets/client_secret';
const DATA_PLANE = '/etc/union/secret/client_secret';

/** Another service of the control plane: it says who the ingress says is calling. */
const peer = createServer((req, res) => {
  calls.push(req.url ?? '');
  res.end(JSON.stringify({ caller: req.headers['x-user-subject'] ?? null }));
});
const calls: string[] = [];
let plane: Plane;
let variables: Readonly<Record<string, string>>;
let secret: string;
/** Stands for the root of a pod's file system, with the secrets mounted. */
const root = temporaryFolder();
beforeAll(async () => {
  await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve));
  const { port } = peer.address() as AddressInfo;
  plane = await startPlane(['--upstream', `http://127.0.0.1:${port}`]);
  const deployment = readFileSync(join(plane.state, 'deployment.env'), 'utf8');
  variables = Object.fromEntries(
    [...deployment.matchAll(/^(\w+)='(.*)'$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  secret = readFileSync(join(plane.state, 'idp', 'service-client-secret'), 'utf8');
  for (const path of [CONTROL_PLANE, ADMIN_SECRETS, DATA_PLANE]) {
    mkdirSync(dirname(join(root.path, path)), { recursive: true });
    writeFileSync(join(root.path, path), secret, { mode: 0o600 });
  }
});
afterAll(async () => {
  await plane.stop();
  peer.close();
  root.remove();
});

const endpoint = () => ({ endpoint: plane.url.replace('http://', 'dns:///'), insecure: true });
const pick = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, variables[name] ?? '']));

/** What a control plane service is given: client id and token endpoint by the deployment variables. */
const controlPlane = (location = CONTROL_PLANE): Given => ({
  block: 'union.auth',
  file: {
    admin: endpoint(),
    union: {
      auth: {
        enable: true,
        type: 'ClientSecret',
        clientSecretLocation: join(root.path, location),
        authorizationMetadataKey: 'core-authorization',
        scopes: ['all'],
      },
    },
  },
  environment: pick('INTERNAL_CLIENT_ID', 'AUTH_TOKEN_URL'),
});

/** What a service of the data plane is given: no token endpoint and no scopes, but a refresh window. */
const dataPlane = (location = DATA_PLANE, clientId = variables['AUTH_CLIENT_ID'] ?? ''): Given => ({
  block: 'union.auth',
  file: {
    admin: endpoint(),
    union: {
      auth: {
        enable: true,
        type: 'ClientSecret',
        clientSecretLocation: join(root.path, location),
        authorizationMetadataKey: 'core-authorization',
        tokenRefreshWindow: '5m',
      },
    },
  },
  environment: { AUTH_CLIENT_ID: clientId },
});

/** What a service with the admin SDK client is given. */
const adminClient =
  (location: string, variable = 'INTERNAL_CLIENT_ID') =>
  (elsewhere = location): Given => ({
    block: 'admin',
    file: {
      admin: {
        ...endpoint(),
        authType: 'ClientSecret',
        clientSecretLocation: join(root.path, elsewhere),
      },
    },
    environment: pick(variable),
  });

/** Who the platform says is calling over HTTP, or the status of its refusal. */
async function subject(service: InternalService): Promise<unknown> {
  const answer = await service.fetch(plane.url + USER_INFO, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  if (!answer.ok) return answer.status;
  return ((await answer.json()) as { readonly subject: string }).subject;
}

const ADMIN_CLIENT_USERS = [
  ['the admin service', adminClient(ADMIN_SECRETS)],
  ['the scheduler', adminClient(ADMIN_SECRETS)],
  ['propeller', adminClient(DATA_PLANE, 'AUTH_CLIENT_ID')],
] as const;
const UNION_AUTH_USERS = [
  ['a control plane service', controlPlane],
  ['the operator', dataPlane],
  ['cluster resource sync', dataPlane],
] as const;

describe('Who uses which block', () => {
  it.each(ADMIN_CLIENT_USERS)(
    'admin: %s enters with it, as the service app',
    async (_, settings) => {
      expect(await subject(startInternalService(settings()))).toBe(variables['INTERNAL_CLIENT_ID']);
    },
  );

  it.each(UNION_AUTH_USERS)(
    'union.auth: %s enters with it, as the service app',
    async (_, settings) => {
      expect(await subject(startInternalService(settings()))).toBe(variables['INTERNAL_CLIENT_ID']);
    },
  );

  it.each(ADMIN_CLIENT_USERS)(
    'admin: %s without the secret at its mount path sends nothing',
    async (_, settings) => {
      const service = startInternalService(settings('/nowhere'));
      expect(await service.tokenSource.get()).toMatchObject({ ok: false });
      await expect(subject(service)).rejects.toThrow();
    },
  );

  it.each(UNION_AUTH_USERS)(
    'union.auth: %s without the secret at its mount path sends nothing',
    async (_, settings) => {
      const service = startInternalService(settings('/nowhere'));
      expect(await service.tokenSource.get()).toMatchObject({ ok: false });
      await expect(subject(service)).rejects.toThrow();
    },
  );
});

describe('Control plane services talk to each other through the ingress', () => {
  it('and pass it with their token, over HTTP and gRPC', async () => {
    const service = startInternalService(controlPlane());
    expect(await subject(service)).toBe(variables['INTERNAL_CLIENT_ID']);
    const token = await service.tokenSource.get();
    if (!token.ok) throw new Error(token.error.error);
    const headers = {
      [await service.authorizationHeader()]: `Bearer ${token.value.accessToken}`,
    };
    const { status, messages } = await callGrpc(plane.url + USER_INFO, { headers });
    expect(status).toBe(0);
    expect(readFields(messages[0] ?? Buffer.alloc(0)).get(1)).toEqual([
      variables['INTERNAL_CLIENT_ID'],
    ]);
  });

  it('and reach one another behind it, and the called service receives the identity of the caller', async () => {
    const service = startInternalService(controlPlane());
    const answer = await service.fetch(`${plane.url}/api/v1/peer`, {
      headers: { 'x-user-subject': 'root' },
    });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ caller: variables['INTERNAL_CLIENT_ID'] });
    expect(calls).toEqual(['/api/v1/peer']);
  });

  it('and without a token reach none', async () => {
    const before = calls.length;
    const off = controlPlane();
    const file = structuredClone(off.file) as { union: { auth: { enable: boolean } } };
    file.union.auth.enable = false;
    const service = startInternalService({ ...off, file });
    const claimed = { headers: { 'x-user-subject': variables['INTERNAL_CLIENT_ID'] ?? '' } };
    expect((await service.fetch(`${plane.url}/api/v1/peer`, claimed)).status).toBe(401);
    expect(calls.length).toBe(before);
  });

  it('and without one do not, over neither', async () => {
    const off = controlPlane();
    const file = structuredClone(off.file) as { union: { auth: { enable: boolean } } };
    file.union.auth.enable = false;
    expect(await subject(startInternalService({ ...off, file }))).toBe(401);
    expect((await callConnect(plane.url + USER_INFO)).status).toBe(401);
    expect((await callGrpc(plane.url + USER_INFO)).status).toBe(16);
  });
});

describe('The data plane', () => {
  it('authenticates with the service app of the control plane: the same principal', async () => {
    expect(variables['AUTH_CLIENT_ID']).toBe(variables['INTERNAL_CLIENT_ID']);
    const [first, second] = [controlPlane(), dataPlane()].map(startInternalService);
    if (first === undefined || second === undefined) throw new Error('no service');
    expect(await subject(second)).toBe(await subject(first));
  });

  it('with a service app of another name the problem is reported beside the right name, and that app alone gets no token', async () => {
    const other = dataPlane(DATA_PLANE, 'another-service');
    const environment = { ...other.environment, ...pick('INTERNAL_CLIENT_ID') };
    expect(startInternalService({ ...other, environment }).warnings[0]).toContain('AUTH_CLIENT_ID');
    const service = startInternalService(other);
    expect(await service.tokenSource.get()).toMatchObject({ error: { error: 'invalid_client' } });
    await expect(subject(service)).rejects.toThrow();
  });
});

describe('union.auth.enable against a control plane without server.security.useAuth', () => {
  async function startClosed() {
    const config = join(root.path, 'without-auth.yaml');
    writeFileSync(config, 'publicUrl: http://localhost:1\nserver: {security: {useAuth: false}}\n');
    return await sharedHost().start(['serve', '--port', '0', '--config', config], {});
  }
  const serviceOf = (url: string, enable: boolean): InternalService => {
    const { file = {}, ...rest } = dataPlane();
    const own = file as { readonly union: { readonly auth: object } };
    const admin = { endpoint: url.replace('http://', 'dns:///'), insecure: true };
    return startInternalService({
      ...rest,
      file: { admin, union: { auth: { ...own.union.auth, enable } } },
    });
  };

  it('true: the call says in one line that useAuth may not be true there', async () => {
    const running = await startClosed();
    const service = serviceOf(running.url, true);
    await expect(service.fetch(`${running.url}${USER_INFO}`)).rejects.toThrow(
      /no token was obtained since .*: http:\S+ publishes no sign-in metadata: is this the platform's address, and is server\.security\.useAuth true there\?$/,
    );
    service.close();
    await running.stop();
  });

  it('false: nothing contradicts, the call is made without a token, and no token is missed', async () => {
    const running = await startClosed();
    const answer = await serviceOf(running.url, false).fetch(`${running.url}${USER_INFO}`);
    expect(answer.status).toBe(404);
    await running.stop();
  });
});

describe('A task pod with EAGER_API_KEY', () => {
  const HOST = 'platform.example.com';
  /** The key names a host alone, always at port 443: here that is where the plane is. */
  const atPlane: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (url.origin !== `https://${HOST}`) return fetch(request);
    return fetch(plane.url + url.pathname + url.search, init);
  };
  const pod = (environment: Readonly<Record<string, string>>): Given => ({
    block: 'admin',
    environment,
    fetch: atPlane,
  });
  const keyWith = (clientSecret: string): string =>
    Buffer.from(`${HOST}:${variables['INTERNAL_CLIENT_ID']}:${clientSecret}:`).toString('base64');
  const call = async (service: InternalService) => {
    const answer = await service.fetch(`https://${HOST}${USER_INFO}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    return (await answer.json()) as object;
  };

  it('needs no other setting, and is admitted with the credentials in it', async () => {
    const service = startInternalService(pod({ EAGER_API_KEY: keyWith(secret) }));
    expect(await call(service)).toMatchObject({ subject: variables['INTERNAL_CLIENT_ID'] });
  });

  it('with another secret in it gets no token, and sends nothing', async () => {
    const service = startInternalService(pod({ EAGER_API_KEY: keyWith('canary-other') }));
    const refused = await service.tokenSource.get();
    expect(refused).toMatchObject({ error: { error: 'invalid_client' } });
    expect(JSON.stringify(refused)).not.toContain('canary');
    await expect(call(service)).rejects.toThrow();
  });

  it('without the key it reports that the platform is not known, and a broken key is reported by name', () => {
    expect(problemsOf(pod({}))[0]).toContain('admin.endpoint: found nothing');
    const inPod = problemsOf(pod({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }));
    expect(inPod).toEqual([expect.stringContaining('apiKey (EAGER_API_KEY): found nothing')]);
    const broken = problemsOf(pod({ EAGER_API_KEY: `${keyWith(secret)}!` })).join();
    expect(broken).toContain('apiKey (EAGER_API_KEY): found ');
    expect(broken).not.toContain(secret);
  });
});
