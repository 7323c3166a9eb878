import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientBlock } from '@sallyport/client';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakePlatform, startFakePlatform } from '../../conformance/cli/fake-platform.ts';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { type InternalService, problemsOf, startInternalService } from './internal-service.ts';

const MINUTE = 60_000;
const folder = temporaryFolder();
const secretFile = join(folder.path, 'client_secret');
afterAll(() => folder.remove());

let platform: FakePlatform;
beforeEach(async () => {
  platform = await startFakePlatform();
  writeFileSync(secretFile, 'one');
});
afterEach(() => platform.close());

/** Name of the key that names the header, which differs from block to block. */
const HEADER_KEYS: Readonly<Record<ClientBlock, string>> = {
  admin: 'authorizationHeader',
  'union.auth': 'authorizationMetadataKey',
  'executions.app.adminClient.connection': 'authorizationHeader',
};
const BLOCKS = Object.keys(HEADER_KEYS) as ClientBlock[];
const SERVICE_BLOCKS = BLOCKS.filter((block) => block !== 'admin');

/** A file with the block as the requirement gives it; `undefined` takes a key out. */
function fileWith(block: ClientBlock, changes: Readonly<Record<string, unknown>> = {}): object {
  const own = {
    ...(block === 'admin' ? { authType: 'ClientSecret' } : {}),
    clientId: 'service',
    clientSecretLocation: secretFile,
    tokenUrl: `${platform.url}/token`,
    [HEADER_KEYS[block]]: 'core-authorization',
    scopes: ['all'],
    ...changes,
  };
  const endpoint = { endpoint: platform.url.replace('http://', 'dns:///'), insecure: true };
  if (block === 'admin') return { admin: { ...endpoint, ...own } };
  const nested = block
    .split('.')
    .toReversed()
    .reduce<object>((inner, name) => ({ [name]: inner }), own);
  return { ...nested, admin: endpoint };
}

const start = (block: ClientBlock, changes: Readonly<Record<string, unknown>> = {}) =>
  startInternalService({ block, file: fileWith(block, changes) });
const complaints = (block: ClientBlock, changes: Readonly<Record<string, unknown>>) =>
  problemsOf({ block, file: fileWith(block, changes) });
/** A request to the platform, which admits every caller with a valid token in `core-authorization`. */
const call = async (service: InternalService) => (await service.fetch(`${platform.url}/me`)).status;
const tokenRequests = () => platform.asked.filter(({ path }) => path === '/token');
const credentials = () =>
  tokenRequests().map(({ headers }) =>
    Buffer.from(String(headers.authorization).replace('Basic ', ''), 'base64').toString(),
  );

describe.each(BLOCKS)('%s', (block) => {
  it('clientId is the client that asks for the token, once for many requests', async () => {
    const service = start(block);
    expect([await call(service), await call(service)]).toEqual([200, 200]);
    expect(credentials()).toEqual(['service:one']);
    expect(tokenRequests()[0]?.form.get('grant_type')).toBe('client_credentials');
  });

  it('clientId that is missing is reported with its key before any request', () => {
    const [problem] = complaints(block, { clientId: undefined });
    expect(problem).toContain(`${block}.clientId`);
    expect(problem).toContain('found nothing');
    expect(platform.asked).toEqual([]);
  });

  it('clientSecretLocation is the file whose content proves it, read again for each token', async () => {
    const service = start(block);
    await call(service);
    writeFileSync(secretFile, 'two');
    service.advance(60 * MINUTE);
    expect(await call(service)).toBe(200);
    expect(credentials()).toEqual(['service:one', 'service:two']);
  });

  it('clientSecretLocation without a file is refused with path and key, and nothing is sent', async () => {
    const service = start(block, { clientSecretLocation: '/nowhere/client_secret' });
    const refused = await service.tokenSource.get();
    expect(refused.ok).toBe(false);
    const answer = JSON.stringify(refused);
    expect(answer).toContain('/nowhere/client_secret');
    expect(answer).toContain(`${block}.clientSecretLocation`);
    await expect(call(service)).rejects.toThrow();
    expect(platform.asked).toEqual([]);
  });
});

describe.each(SERVICE_BLOCKS)('%s', (block) => {
  it('tokenUrl is where the token is asked for, and the platform is asked nothing', async () => {
    platform.answers.set('/own-token', () => ({
      status: 200,
      body: { access_token: 'own', token_type: 'Bearer', expires_in: 3_600 },
    }));
    await start(block, { tokenUrl: `${platform.url}/own-token` }).tokenSource.get();
    expect(platform.asked.map(({ path }) => path)).toEqual(['/own-token']);
  });

  it('tokenUrl that is no safe address is reported with its key', () => {
    for (const tokenUrl of ['http://idp.example.com/token', 'idp.example.com', 7])
      expect(complaints(block, { tokenUrl })[0]).toContain(`${block}.tokenUrl: found `);
  });

  it('the header that is named carries the token', async () => {
    expect(await call(start(block))).toBe(200);
    expect(platform.asked.at(-1)?.headers['core-authorization']).toMatch(/^Bearer access-/);
  });

  it('no other header carries it, so that a platform with another name refuses it', async () => {
    expect(await call(start(block, { [HEADER_KEYS[block]]: 'x-other' }))).toBe(401);
    const { headers } = platform.asked.at(-1) ?? {};
    expect(headers?.['x-other']).toMatch(/^Bearer access-/);
    expect(headers).not.toHaveProperty('core-authorization');
    expect(headers).not.toHaveProperty('authorization');
  });

  it('scopes are what the token is asked for with: the list with all', async () => {
    await call(start(block));
    expect(tokenRequests().map(({ form }) => form.get('scope'))).toEqual(['all']);
  });

  it('scopes of another list are asked for instead, and what is no list is reported', async () => {
    await call(start(block, { scopes: ['one', 'two'] }));
    expect(tokenRequests().map(({ form }) => form.get('scope'))).toEqual(['one two']);
    expect(complaints(block, { scopes: 'all' })[0]).toContain(`${block}.scopes: found "all"`);
  });
});

describe('union.auth', () => {
  it('enable true: a request carries a token', async () => {
    const service = start('union.auth', { enable: true });
    expect([await call(service), service.warnings.join()]).toEqual([
      200,
      expect.not.stringContaining('union.auth'),
    ]);
  });

  it('enable false: none does, the platform refuses, and the service was warned of it', async () => {
    const service = start('union.auth', { enable: false });
    expect(await call(service)).toBe(401);
    expect(tokenRequests()).toEqual([]);
    expect(service.warnings.join('\n')).toContain(
      'union.auth.enable: found false, expected true: without it internal services receive 401',
    );
  });

  it('type ClientSecret: the client_credentials grant, with the secret of the file', async () => {
    expect(await call(start('union.auth', { type: 'ClientSecret' }))).toBe(200);
    expect(tokenRequests()[0]?.form.get('grant_type')).toBe('client_credentials');
    expect(credentials()).toEqual(['service:one']);
  });

  it.each(['Pkce', 'clientsecret', 'ApiKey', true])(
    'type %s is reported with file, line and key',
    (type) => {
      expect(complaints('union.auth', { type })[0]).toMatch(
        /^service\.yaml:\d+: union\.auth\.type: found .+ expected ClientSecret/,
      );
    },
  );

  it('tokenUrl and scopes may be absent, as on the data plane: the platform publishes the first, and the second is all', async () => {
    const service = start('union.auth', { tokenUrl: undefined, scopes: undefined });
    expect(await call(service)).toBe(200);
    expect(tokenRequests().map(({ form }) => form.get('scope'))).toEqual(['all']);
    expect(platform.asked.some(({ path }) => path.endsWith('/GetOAuth2Metadata'))).toBe(true);
  });

  it('scopes and tokenUrl that are absent are those in the metadata of the platform, not a default', async () => {
    platform.answers.set('/flyteidl2.auth.AuthMetadataService/GetPublicClientConfig', () => ({
      status: 200,
      body: {
        clientId: 'native',
        redirectUri: 'http://localhost:53593/callback',
        scopes: ['openid', 'platform-scope'],
        authorizationMetadataKey: 'core-authorization',
      },
    }));
    await start('union.auth', { tokenUrl: undefined, scopes: undefined }).tokenSource.get();
    await start('union.auth', { scopes: undefined }).tokenSource.get();
    expect(tokenRequests().map(({ form }) => form.get('scope'))).toEqual(['platform-scope', 'all']);
  });

  it.each([
    ['given', { tokenRefreshWindow: '5m' }],
    ['absent, as on the control plane', { tokenRefreshWindow: undefined }],
  ])(
    'tokenRefreshWindow 5m, %s: a token is replaced within 5 minutes of its end',
    async (_, changes) => {
      platform.lifetime = 3_600;
      const service = start('union.auth', changes);
      await call(service);
      service.advance(55 * MINUTE);
      const renewal = platform.nextRequest('/token');
      expect(await call(service)).toBe(200);
      await renewal;
      expect(tokenRequests()).toHaveLength(2);
    },
  );

  it('tokenRefreshWindow: before it a token is kept, and another window is another moment', async () => {
    platform.lifetime = 3_600;
    const service = start('union.auth', { tokenRefreshWindow: '5m' });
    await call(service);
    service.advance(54 * MINUTE);
    await call(service);
    expect(tokenRequests()).toHaveLength(1);
    const wider = start('union.auth', { tokenRefreshWindow: '10m' });
    await call(wider);
    wider.advance(54 * MINUTE);
    const renewal = platform.nextRequest('/token');
    await call(wider);
    await renewal;
    expect(tokenRequests()).toHaveLength(3);
    expect(complaints('union.auth', { tokenRefreshWindow: 300 })[0]).toContain(
      'union.auth.tokenRefreshWindow: found 300',
    );
  });
});
