import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../../conformance/wire/browser.ts';
import { exchange } from '../../conformance/wire/exchange.ts';
import { type Running, start, temporaryFolder } from '../../conformance/wire/process.ts';
import { requirePart } from '../parts.ts';
import { type ExternalProvider, startExternalProvider } from './external-provider.ts';
import { findPythonProvider } from './python-clients.ts';

const PROVIDER = await findPythonProvider();
const DEEP_LINK = '/console/projects/a%20b?q=1&next=%2Fy';

interface Deployment {
  readonly url: string;
  readonly running: Running;
}

describe.skipIf(PROVIDER.isLeftOut)('An identity provider of other people’s code', () => {
  const folder = temporaryFolder();
  let provider: ExternalProvider;
  let own: Deployment;
  let mistaken: Deployment;
  beforeAll(async () => {
    provider = await startExternalProvider(requirePart(PROVIDER));
    [own, mistaken] = await Promise.all([
      deploy('own', (secret) => secret),
      deploy('mistaken', (secret) => `${secret}x`),
    ]);
  });
  afterAll(async () => {
    await Promise.all([own.running.stop(), mistaken.running.stop()]);
    await provider.stop();
    folder.remove();
  });

  /** Registers a web application and starts the service as that, with what becomes of its secret. */
  async function deploy(name: string, keep: (secret: string) => string): Promise<Deployment> {
    const port = await freePort();
    const url = `http://localhost:${port}`;
    const { id, secret } = await provider.register(`${url}/callback`);
    const state = join(folder.path, name);
    mkdirSync(state);
    const secretFile = join(state, 'oidc_client_secret');
    writeFileSync(secretFile, keep(secret), { mode: 0o600 });
    const running = await start(['serve', '--port', String(port)], {
      PUBLIC_URL: url,
      OIDC_BASE_URL: provider.issuer,
      OIDC_CLIENT_ID: id,
      CLI_CLIENT_ID: 'cli-client',
      OIDC_CLIENT_SECRET_FILE: secretFile,
      SALLYPORT_STATE_DIRECTORY: state,
    });
    return { url, running };
  }

  /** From `/login` to the provider's page, and what the person answers there. */
  async function answerAt(url: string, browser: Browser, form: Readonly<Record<string, string>>) {
    const target = encodeURIComponent(DEEP_LINK);
    const page = await browser.visit(`${url}/login?redirect_url=${target}`);
    expect(new URL(page.url).origin).toBe(provider.issuer);
    const answered = await browser.step(page.url, { form });
    expect(answered.location?.startsWith(`${url}/callback?`)).toBe(true);
    return { answered, callback: await browser.step(answered.location ?? '') };
  }

  it('signs a person in: its own 302 to /callback, a session, and who it says they are', async () => {
    const browser = new Browser();
    const { answered, callback } = await answerAt(own.url, browser, { sub: 'ada' });
    expect(answered.status).toBe(302);
    expect([callback.status, callback.location]).toEqual([302, own.url + DEEP_LINK]);
    const { status, body } = await exchange(`${own.url}/me`, {
      headers: { cookie: `core_session=${browser.cookie('localhost', 'core_session')}` },
    });
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ subject: 'ada', name: 'Ada Lovelace' });
    expect(provider.requests()).toEqual(
      expect.arrayContaining([
        'GET /.well-known/openid-configuration',
        'GET /jwks',
        'POST /oauth2/token',
        'GET /userinfo',
      ]),
    );
  });

  it('gives no session to a person who refuses there, nor to a service that has another secret', async () => {
    for (const [{ url }, form] of [
      [own, { action: 'deny' }],
      [mistaken, { sub: 'ada' }],
    ] as const) {
      const browser = new Browser();
      const { callback } = await answerAt(url, browser, form);
      expect(callback.status).toBeGreaterThanOrEqual(400);
      expect(browser.cookieNames('localhost')).not.toContain('core_session');
    }
  });
});
