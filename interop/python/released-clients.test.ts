import { readFileSync } from 'node:fs';
import { isTaken } from '@sallyport/testing/wire/ports';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { holdRedirectPort, REDIRECT_PORT } from '../../conformance/wire/redirect-port.ts';
import { requirePart } from '../parts.ts';
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

/** The browser goes on by itself: it may end after the client. */
const VISITED = { timeout: 20_000 };

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
    plane = await startSecurePlane();
  });

  afterAll(async () => {
    const log = readFileSync(plane.logFile, 'utf8');
    const secrets = [
      plane.password('ada'),
      readFileSync(plane.serviceSecretFile, 'utf8'),
      'canary',
    ];
    await plane.stop();
    for (const secret of secrets) expect(log).not.toContain(secret);
    // No token either, whoever's it was.
    expect(log).not.toMatch(/eyJ[\w-]+\./);
  });

  beforeEach(async () => {
    workstation = createWorkstation(requirePart(CLIENTS), plane);
    await plane.tokenRequests();
  });

  afterEach(() => workstation.remove());

  describe.each(['flytekit', 'flyte'] as const)('%s with Pkce', (client) => {
    let giveBackPort: () => Promise<void>;
    afterEach(() => giveBackPort());
    beforeEach(async () => {
      workstation.configure({ authType: 'Pkce' });
      // Other suites take the registered port too.
      giveBackPort = await holdRedirectPort();
    });

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

  describe.each(['flytekit', 'flyte'] as const)('%s with ClientSecret', (client) => {
    it('no cached token: reaches a protected call without a person, with one token request', async () => {
      workstation.configure(clientSecret());
      expect(await workstation.calls(client, 3)).toMatchObject([SERVICE, SERVICE, SERVICE]);
      expect(await plane.tokenRequests()).toEqual([SERVICE_GRANT]);
      expect(workstation.visits()).toEqual([]);
    });

    it('a token that is no longer accepted: one more token request in the same process', async () => {
      workstation.configure(clientSecret());
      const running = workstation.start(client);
      expect(await running.call()).toMatchObject(SERVICE);
      await plane.changeSigningKey();
      await plane.tokenRequests();
      expect(await running.call()).toMatchObject(SERVICE);
      expect(await running.call()).toMatchObject(SERVICE);
      await running.finish();
      expect(await plane.tokenRequests()).toEqual([SERVICE_GRANT]);
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
});

const API_KEY_PORT = 443;
const canTakeApiKeyPort = !(await isTaken(API_KEY_PORT));

describe.skipIf(CLIENTS.isLeftOut || !canTakeApiKeyPort)(
  `flyte with an API key, whose port is always ${API_KEY_PORT}`,
  () => {
    beforeAll(async () => {
      plane = await startSecurePlane(API_KEY_PORT);
    });

    afterAll(() => plane.stop());

    beforeEach(async () => {
      workstation = createWorkstation(requirePart(CLIENTS), plane);
      await plane.tokenRequests();
    });

    afterEach(() => workstation.remove());

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

    it('a key with another secret reaches nothing', async () => {
      const client = workstation.start('flyte', keyWith('other'));
      expect(await client.call()).toMatchObject({ error: expect.any(String) });
      await client.finish();
      expect(await plane.tokenRequests()).not.toContain(SERVICE_GRANT);
    });
  },
);
