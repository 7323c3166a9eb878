import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientBlock } from '@sallyport/client';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakePlatform, startFakePlatform } from '../../conformance/cli/fake-platform.ts';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { type InternalService, startInternalService } from './internal-service.ts';

const SECRET = 'right-canary-secret';
/** Where the Secrets are mounted, below a folder that stands for the root. */
const MOUNTS = {
  admin: '/etc/secrets',
  'union.auth': '/etc/union/secret',
  'executions.app.adminClient.connection': '/etc/secrets/union',
} as const satisfies Record<ClientBlock, string>;
const BLOCKS = Object.keys(MOUNTS) as ClientBlock[];
/** Later than the service's next attempt. */
const LATER_MS = 10_000;

const top = temporaryFolder();
afterAll(() => top.remove());

let platform: FakePlatform;
let root: string;
beforeEach(async () => {
  root = mkdtempSync(join(top.path, 'root-'));
  platform = await startFakePlatform();
  platform.answers.set('/token', ({ headers, form }) => {
    const basic = (headers.authorization ?? '').replace('Basic ', '');
    const sent = form.get('client_secret') ?? Buffer.from(basic, 'base64').toString().split(':')[1];
    return sent === SECRET
      ? { status: 200, body: { access_token: 'at', token_type: 'Bearer', expires_in: 3_600 } }
      : { status: 401, body: { error: 'invalid_client' } };
  });
});
afterEach(() => platform.close());

function start(block: ClientBlock, changes: object = {}): InternalService {
  const own = {
    ...(block === 'admin' ? { authType: 'ClientSecret' } : {}),
    clientId: 'service',
    clientSecretLocation: join(root, MOUNTS[block], 'client_secret'),
    tokenUrl: `${platform.url}/token`,
    scopes: ['all'],
    ...changes,
  };
  const endpoint = { endpoint: platform.url.replace('http://', 'dns:///'), insecure: true };
  const names = block.split('.').toReversed();
  const nested = names.reduce<object>((inner, name) => ({ [name]: inner }), own);
  const file =
    block === 'admin' ? { admin: { ...endpoint, ...own } } : { ...nested, admin: endpoint };
  return startInternalService({ block, file });
}

/** The folder with just these keys; without any, there is none. */
function mount(block: ClientBlock, keys: Readonly<Record<string, string>> | undefined): void {
  const folder = join(root, MOUNTS[block]);
  rmSync(folder, { recursive: true, force: true });
  if (keys === undefined) return;
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(keys)) writeFileSync(join(folder, name), text);
}

/** What a call says that gets no token, the root of the file system left out. */
async function complaint(service: InternalService): Promise<string> {
  const token = await service.tokenSource.get();
  return token.ok ? 'a token' : token.error.description.replaceAll(root, '');
}

const OTHERS = { app_secret: 'canary-other', 'tls.crt': 'canary-other' };

describe.each(BLOCKS)(
  '%s: a secret that is wrong is named, and put right it is used without a restart:',
  (block) => {
    const line = (found: string, expected: string): string =>
      `${MOUNTS[block]}/client_secret: ${block}.clientSecretLocation (client_secret): found ${found}, expected ${expected}.`;

    it.each([
      [
        'the Secret is missing',
        undefined,
        line('no folder to read it from', 'a mounted Secret that holds the key client_secret'),
      ],
      [
        'it holds nothing',
        {},
        line(
          'no such file, in an empty folder',
          'a mounted Secret that holds the key client_secret',
        ),
      ],
      [
        'it lacks the key client_secret',
        OTHERS,
        line(
          'no such key beside app_secret, tls.crt',
          'the key client_secret in the mounted Secret',
        ),
      ],
      [
        'its synchronization has not completed',
        { oidc_client_secret: 'canary-other' },
        line(
          'no such key beside oidc_client_secret',
          'the key client_secret, which the secret synchronization (ExternalSecret) adds: it has not completed',
        ),
      ],
      [
        'it holds the database password alone',
        { 'pass.txt': 'canary-other' },
        line(
          'no such key beside pass.txt, the database password',
          'the key client_secret added to the existing control plane service secret',
        ),
      ],
      [
        'it is empty',
        { client_secret: '' },
        line('an empty file', 'a file that holds client_secret'),
      ],
      [
        'it has a byte order mark',
        { client_secret: `\ufeff${SECRET}` },
        line('a byte order mark (BOM) before the secret', 'the secret alone, in UTF-8 without one'),
      ],
      [
        'it is the stand-in value of the chart',
        { client_secret: 'placeholder' },
        line(
          'a stand-in value, as a chart or an example has it',
          'the client secret of the service app',
        ),
      ],
    ])('%s: nothing is sent', async (_, keys, expected) => {
      mount(block, keys);
      const service = start(block);
      const told = await complaint(service);
      expect(told).toMatch(/^No token was obtained since \d{4}-\d\d-\d\dT[\d:.]+Z: /);
      expect(told).toContain(expected);
      expect(told).not.toContain('canary');
      await expect(service.fetch(`${platform.url}/me`)).rejects.toThrow(expected.slice(0, -1));
      expect([platform.count('/token'), platform.count('/me')]).toEqual([0, 0]);
      mount(block, { client_secret: SECRET });
      service.advance(LATER_MS);
      expect(await complaint(service)).toBe('a token');
      service.close();
    });

    it.each([
      [
        'it has quotes around it',
        `"${SECRET}"`,
        line('quotes around the secret, which are kept', 'the secret alone'),
      ],
      [
        'it is base64 of the secret',
        Buffer.from(SECRET).toString('base64'),
        line(
          'what looks like base64 of a secret',
          'the secret itself: encode it once for data of a Secret, and not at all for stringData',
        ),
      ],
      ['it is another one', 'canary-other', 'The identity provider answered invalid_client.'],
    ])(
      '%s: the identity provider refuses it, and the refusal says so',
      async (_, text, expected) => {
        mount(block, { client_secret: text });
        const service = start(block);
        const told = await complaint(service);
        expect(told).toContain('The identity provider answered invalid_client');
        expect(told).toContain(expected);
        expect(told).not.toContain('canary');
        mount(block, { client_secret: SECRET });
        service.advance(LATER_MS);
        expect(await complaint(service)).toBe('a token');
        service.close();
      },
    );

    it('a final newline is left out, with a warning', async () => {
      mount(block, { client_secret: `${SECRET}\n` });
      const service = start(block);
      expect(await complaint(service)).toBe('a token');
      expect(service.heard().map((warning) => `${warning.replace(root, '')}.`)).toEqual([
        line('a newline at the end, which is left out', 'the secret alone'),
      ]);
      service.close();
    });

    it('a service app that the access policy does not admit is named as that', async () => {
      mount(block, { client_secret: SECRET });
      platform.answers.set('/token', () => ({ status: 400, body: { error: 'access_denied' } }));
      const token = await start(block).tokenSource.get();
      expect(token).toMatchObject({
        error: {
          description: expect.stringContaining('The identity provider answered access_denied.'),
          hint: expect.stringContaining(
            'an access policy of the identity provider does not admit this account or client',
          ),
        },
      });
    });
  },
);
