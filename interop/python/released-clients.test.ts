import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isTaken } from '@sallyport/testing/wire/ports';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Running, run, start, temporaryFolder } from '../../conformance/wire/process.ts';
import { holdRedirectPort, REDIRECT_PORT } from '../../conformance/wire/redirect-port.ts';
import { requirePart } from '../parts.ts';
import { type ClientHost, startClientHost } from './client-host.ts';
import { findPythonClients } from './python-clients.ts';
import { type SecurePlane, startSecurePlane } from './secure-plane.ts';
import { createWorkstation, type Workstation } from './workstation.ts';

const CLIENTS = await findPythonClients();
const ADA = { subject: 'ada', name: 'Ada Lovelace' };
const CALLBACK = `200 http://localhost:${REDIRECT_PORT}/callback`;
const CODE_GRANT = 'sallyport-cli authorization_code';
const DEVICE_GRANT = 'sallyport-cli urn:ietf:params:oauth:grant-type:device_code';
const SERVICE_GRANT = 'sallyport-service client_credentials';
const SERVICE = { subject: 'sallyport-service' };
const BOTH = ['flytekit', 'flyte'] as const;
const [GRPC_HEADER, HTTP_HEADER] = ['core-grpc', 'core-http'];

/** Where an API key leads, which names no port. */
const API_KEY_PORT = 443;
const canTakeApiKeyPort = !(await isTaken(API_KEY_PORT));

/** The browser goes on by itself: it may end after the client. */
const VISITED = { timeout: 20_000 };

let host: ClientHost;
let plane: SecurePlane;
let workstation: Workstation;

/** Headless: the identity is the service application's. */
const clientSecret = () => ({
  authType: 'ClientSecret',
  clientId: plane.serviceClientId,
  clientSecretLocation: plane.serviceSecretFile,
});

describe.skipIf(CLIENTS.isLeftOut)('released Python clients against sallyport up', () => {
  beforeAll(async () => {
    [host, plane] = await Promise.all([
      startClientHost(requirePart(CLIENTS)),
      startSecurePlane(canTakeApiKeyPort ? API_KEY_PORT : undefined),
    ]);
  });

  afterAll(async () => {
    const log = readFileSync(plane.logFile, 'utf8');
    const secrets = [
      plane.password('ada'),
      readFileSync(plane.serviceSecretFile, 'utf8'),
      'canary',
    ];
    await Promise.all([plane.stop(), host.stop()]);
    for (const secret of secrets) expect(log).not.toContain(secret);
    // No token of any client either.
    expect(log).not.toMatch(/eyJ[\w-]+\./);
  });

  beforeEach(async () => {
    workstation = createWorkstation(host, plane);
    await plane.tokenRequests();
  });

  afterEach(() => workstation.remove());

  describe('flytekit with DeviceFlow', () => {
    beforeEach(() => workstation.configure({ authType: 'DeviceFlow' }));

    /** The device shows an address; the person opens it somewhere, signs in and confirms. */
    async function confirmAndCall(): Promise<unknown> {
      const client = workstation.start('flytekit');
      const answer = client.call();
      await workstation.browse(await client.printedAddress());
      const person = await answer;
      await client.finish();
      return person;
    }

    it('no cached token: the person confirms the code, and a protected call is reached', async () => {
      expect(await confirmAndCall()).toEqual(ADA);
      await expect.poll(() => workstation.visits(), VISITED).toHaveLength(1);
      expect(workstation.visits()[0]).toMatch(/^200 http:\/\/127\.0\.0\.1:\d+\/idp\/device/);
      expect(await plane.tokenRequests()).toEqual([DEVICE_GRANT]);
    });

    it('a cached token: another process shows no code and asks the IdP for nothing', async () => {
      await confirmAndCall();
      await plane.tokenRequests();
      expect(await workstation.calls('flytekit', 1)).toEqual([ADA]);
      expect(await plane.tokenRequests()).toEqual([]);
    });

    it('an expired token: shows a code once more', async () => {
      await confirmAndCall();
      workstation.keepAccessToken(await plane.age(workstation.keptAccessToken() ?? ''));
      await plane.tokenRequests();
      expect(await confirmAndCall()).toEqual(ADA);
      expect(await plane.tokenRequests()).toEqual([DEVICE_GRANT]);
    });
  });

  describe.each(BOTH)('%s with ClientSecret', (client) => {
    it('no cached token: reaches a protected call without a person, with one token request', async () => {
      workstation.configure(clientSecret());
      expect(await workstation.calls(client, 3)).toMatchObject([SERVICE, SERVICE, SERVICE]);
      expect(await plane.tokenRequests()).toEqual([SERVICE_GRANT]);
      expect(workstation.visits()).toEqual([]);
    });

    it('a wrong secret: the call fails and nothing is admitted', async () => {
      const clientSecretLocation = workstation.write('client_secret', 'canary-of-another-client');
      workstation.configure({ ...clientSecret(), clientSecretLocation });
      const [answer] = await workstation.calls(client, 1);
      expect(answer?.subject).toBeUndefined();
      expect(answer?.error).toEqual(expect.any(String));
      expect(answer?.detail).not.toContain('canary');
      expect(await plane.tokenRequests()).toEqual(
        expect.arrayContaining(['sallyport-service refused invalid_client']),
      );
    });
  });

  it('a token that is no longer accepted: one more token request in the same process', async () => {
    const own = BOTH.map((client) => ({ client, machine: createWorkstation(host, plane) }));
    const running = own.map(({ client, machine }) => {
      machine.configure(clientSecret());
      return machine.start(client);
    });
    for (const client of running) expect(await client.call()).toMatchObject(SERVICE);
    await plane.changeSigningKey();
    await plane.tokenRequests();
    for (const client of running) {
      expect(await client.call()).toMatchObject(SERVICE);
      expect(await client.call()).toMatchObject(SERVICE);
      await client.finish();
      expect(await plane.tokenRequests()).toEqual([SERVICE_GRANT]);
    }
    for (const { machine } of own) machine.remove();
  });

  describe.skipIf(!canTakeApiKeyPort)(
    `flyte with an API key, whose port is always ${API_KEY_PORT}`,
    () => {
      const keyWith = (secret: string) => ({
        FLYTE_API_KEY: Buffer.from(`localhost:${plane.serviceClientId}:${secret}:`).toString(
          'base64',
        ),
        SSL_CERT_FILE: plane.caFile,
      });

      it('reaches a protected call with one token request, without a file and without a person', async () => {
        const secret = readFileSync(plane.serviceSecretFile, 'utf8');
        const client = workstation.start('flyte', keyWith(secret));
        expect(await client.call()).toMatchObject(SERVICE);
        expect(await client.call()).toMatchObject(SERVICE);
        await client.finish();
        expect(await plane.tokenRequests()).toEqual([SERVICE_GRANT]);
        expect(workstation.visits()).toEqual([]);
      });

      it('in a task pod, the key of "apikey create" in EAGER_API_KEY is enough, until it is revoked', async () => {
        const state = ['--state', dirname(plane.logFile), '--json'];
        const owner = ['--organization', 'acme', '--cluster', 'east-1'];
        const created = await run(['apikey', 'create', ...owner, ...state]);
        const { clientId, key } = JSON.parse(created.stdout) as Readonly<Record<string, string>>;
        const pod = { EAGER_API_KEY: key ?? '', SSL_CERT_FILE: plane.caFile };
        const client = workstation.start('flyte', pod);
        expect(await client.call()).toMatchObject({ subject: clientId });
        await client.finish();
        expect(await plane.tokenRequests()).toEqual([`${clientId} client_credentials`]);
        expect((await run(['apikey', 'revoke', clientId ?? '', ...state])).code).toBe(0);
        const later = workstation.start('flyte', pod);
        expect(await later.call()).toMatchObject({ error: expect.any(String) });
        await later.finish();
        expect(await plane.tokenRequests()).not.toContain(`${clientId} client_credentials`);
        expect(workstation.visits()).toEqual([]);
      });

      it('a key with another secret reaches nothing', async () => {
        const client = workstation.start('flyte', keyWith('other'));
        expect(await client.call()).toMatchObject({ error: expect.any(String) });
        await client.finish();
        expect(await plane.tokenRequests()).not.toContain(SERVICE_GRANT);
      });
    },
  );

  describe('auth.grpcAuthorizationHeader beside auth.httpAuthorizationHeader', () => {
    let service: Running;
    const folder = temporaryFolder();
    beforeAll(async () => {
      const file = join(folder.path, 'sallyport.yaml');
      writeFileSync(
        file,
        [
          'auth:',
          `  grpcAuthorizationHeader: ${GRPC_HEADER}`,
          `  httpAuthorizationHeader: ${HTTP_HEADER}`,
          'bearer:',
          '  onlyConfiguredHeader: true',
          '',
        ].join('\n'),
      );
      const environment = { ...plane.deployment, SALLYPORT_STATE_DIRECTORY: folder.path };
      service = await start(['serve', '--port', '0', '--config', file], environment);
    });
    afterAll(async () => {
      await service.stop();
      folder.remove();
    });

    const check = async (header: string, token: string): Promise<number> => {
      const headers = { [header]: `Bearer ${token}` };
      return (await fetch(`${service.url}/me`, { headers })).status;
    };

    it('flytekit follows the name that the platform publishes, which is the gRPC one', async () => {
      workstation.configure({
        endpoint: `dns:///${new URL(service.url).host}`,
        insecure: true,
        authType: 'ClientSecret',
        clientId: plane.serviceClientId,
        clientSecretLocation: plane.serviceSecretFile,
      });
      // With `onlyConfiguredHeader` no other name is read on gRPC.
      expect(await workstation.calls('flytekit', 1)).toMatchObject([
        { subject: plane.serviceClientId },
      ]);
    });

    it('HTTP reads its own name only', async () => {
      const answer = await fetch(plane.deployment['AUTH_TOKEN_URL'] ?? '', {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'all' }),
        headers: { authorization: plane.serviceCredentials() },
      });
      const { access_token: token } = (await answer.json()) as { readonly access_token: string };
      expect(await check(HTTP_HEADER, token)).toBe(200);
      expect(await check(GRPC_HEADER, token)).toBe(401);
      expect(await check('authorization', token)).toBe(401);
    });
  });

  // Last, and held once: another file may hold the registered port while the tests above run.
  describe('with the registered redirect port', () => {
    let giveBackPort: () => Promise<void>;
    beforeAll(async () => {
      giveBackPort = await holdRedirectPort();
    });
    afterAll(() => giveBackPort());

    describe.each(BOTH)('%s with Pkce', (client) => {
      beforeEach(() => workstation.configure({ authType: 'Pkce' }));

      it('no cached token: signs in once in the browser, and reaches a protected call', async () => {
        expect(await workstation.calls(client, 3)).toEqual([ADA, ADA, ADA]);
        await expect.poll(() => workstation.visits(), VISITED).toEqual([CALLBACK]);
        expect(await plane.tokenRequests()).toEqual([CODE_GRANT]);
      });

      it('a cached token: another process asks neither the person nor the IdP', async () => {
        await workstation.calls(client, 1);
        const kept = workstation.keptAccessToken();
        await plane.tokenRequests();
        expect(await workstation.calls(client, 2)).toEqual([ADA, ADA]);
        expect(await plane.tokenRequests()).toEqual([]);
        await expect.poll(() => workstation.visits(), VISITED).toEqual([CALLBACK]);
        expect(workstation.keptAccessToken()).toBe(kept);
      });

      it('an expired token: signs in once more, and keeps the new token', async () => {
        await workstation.calls(client, 1);
        const aged = await plane.age(workstation.keptAccessToken() ?? '');
        workstation.keepAccessToken(aged);
        await plane.tokenRequests();
        expect(await workstation.calls(client, 2)).toEqual([ADA, ADA]);
        expect(await plane.tokenRequests()).toEqual([CODE_GRANT]);
        await expect.poll(() => workstation.visits(), VISITED).toEqual([CALLBACK, CALLBACK]);
        expect(workstation.keptAccessToken()).not.toBe(aged);
      });
    });
  });
});
