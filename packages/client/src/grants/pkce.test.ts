import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { createTestPorts, metadataOf, type TestPorts } from '@sallyport/testing/client/ports';
import {
  closeServer,
  type ScriptedServer,
  startScriptedServer,
} from '@sallyport/testing/idp/scripted-server';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Grant } from '../grant.ts';
import { createPkceGrant, type PkceOptions } from './pkce.ts';
import type { InteractivePorts } from './ports.ts';

const TOKENS = {
  body: { access_token: 'at', token_type: 'Bearer', refresh_token: 'rt', expires_in: 60 },
};

let server: ScriptedServer;
let ports: TestPorts;
let port: number;
let redirectUri: string;
beforeEach(async () => {
  server = await startScriptedServer();
  ports = createTestPorts({ isTimeEndless: true });
  port = await freePort();
  redirectUri = `http://localhost:${port}/callback`;
});
afterEach(() => server.close());

function create(
  changes: Partial<InteractivePorts> = {},
  options: Partial<PkceOptions> = {},
): Grant {
  return createPkceGrant(
    {
      metadata: metadataOf(server.origin, { redirectUri }),
      tokenEndpoint: `${server.origin}/token`,
      scopes: ['all'],
      audience: '',
      timeoutMs: 180_000,
      ...options,
    },
    { ...ports, ...changes },
  );
}

/** A browser that signs in and comes back with what the test says. */
function browser(
  answer: (authorize: URL) => Record<string, string>,
  pages: Promise<Response>[] = [],
) {
  return (url: string): void => {
    const authorize = new URL(url);
    const callback = new URL(authorize.searchParams.get('redirect_uri') ?? '');
    const state = authorize.searchParams.get('state') ?? '';
    for (const [name, value] of Object.entries({ state, ...answer(authorize) }))
      callback.searchParams.set(name, value);
    pages.push(fetch(callback));
  };
}

function isListening(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

describe('signing in by browser', () => {
  it('opens the authorize endpoint with state and an S256 challenge, and exchanges the code with its verifier', async () => {
    server.script('/token', TOKENS);
    const urls: string[] = [];
    const pages: Promise<Response>[] = [];
    const open = browser(() => ({ code: 'c0de', iss: server.origin }), pages);
    const outcome = await create({
      openBrowser: (url) => {
        urls.push(url);
        open(url);
      },
    }).obtain();
    expect(outcome).toMatchObject({ ok: true, value: { accessToken: 'at', refreshToken: 'rt' } });

    const authorize = new URL(urls[0] ?? '');
    const asked = Object.fromEntries(authorize.searchParams);
    expect(authorize.origin + authorize.pathname).toBe(`${server.origin}/authorize`);
    expect(asked).toEqual({
      response_type: 'code',
      client_id: 'native',
      redirect_uri: redirectUri,
      scope: 'all',
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    const [request] = server.requests;
    expect(request?.form).toEqual({
      grant_type: 'authorization_code',
      code: 'c0de',
      redirect_uri: redirectUri,
      client_id: 'native',
      code_verifier: expect.stringMatching(/^[\w-]{64}$/),
    });
    expect(request?.headers.authorization).toBeUndefined();
    const digest = createHash('sha256')
      .update(request?.form['code_verifier'] ?? '')
      .digest('base64url');
    expect(digest).toBe(asked['code_challenge']);
    expect((await pages[0])?.status).toBe(200);
    expect(await isListening()).toBe(false);
  });

  it('always shows the address, before the browser is opened and whatever comes of that', async () => {
    server.script('/token', TOKENS);
    let shownAtOpening = 0;
    const outcome = await create({
      show: (prompt) => {
        ports.show(prompt);
        if (prompt.kind === 'browser') browser(() => ({ code: 'c' }))(prompt.url);
      },
      openBrowser: () => {
        shownAtOpening = ports.prompts.length;
        throw new Error('no such program');
      },
    }).obtain();
    expect(outcome.ok).toBe(true);
    expect(shownAtOpening).toBeGreaterThan(0);
    expect(ports.prompts[0]).toMatchObject({ kind: 'browser', redirectUri });
  });

  it('asks for the audience and keeps a query that the endpoint has', async () => {
    const stop = new AbortController();
    const metadata = metadataOf(server.origin, {
      redirectUri,
      authorizationEndpoint: `${server.origin}/authorize?p=policy`,
    });
    await create({ openBrowser: () => stop.abort() }, { metadata, audience: 'api' }).obtain({
      signal: stop.signal,
    });
    const [prompt] = ports.prompts;
    const url = new URL(prompt?.kind === 'browser' ? prompt.url : '');
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ p: 'policy', audience: 'api' });
  });

  it('uses new state and verifier each time', async () => {
    server.script('/token', TOKENS);
    const urls: string[] = [];
    const open = browser(() => ({ code: 'c' }));
    const grant = create({
      openBrowser: (url) => {
        urls.push(url);
        open(url);
      },
    });
    await grant.obtain();
    await grant.obtain();
    for (const name of ['state', 'code_challenge']) {
      const values = urls.map((url) => new URL(url).searchParams.get(name));
      expect(new Set(values).size).toBe(2);
    }
  });

  it('ends with the error of the identity provider, a hint and a page of failure', async () => {
    const pages: Promise<Response>[] = [];
    const openBrowser = browser(
      () => ({ error: 'access_denied', error_description: '<b>No' }),
      pages,
    );
    expect(await create({ openBrowser }).obtain()).toMatchObject({
      error: {
        error: 'access_denied',
        description: 'The identity provider answered access_denied: <b>No',
        hint: expect.stringContaining('declined'),
      },
    });
    const page = await pages[0];
    expect(page?.status).toBe(400);
    expect(await page?.text()).toContain('&lt;b&gt;No');
    expect(server.requests).toHaveLength(0);
  });

  it('shows a page of failure when the code is refused', async () => {
    server.script('/token', { status: 400, body: { error: 'invalid_grant' } });
    const pages: Promise<Response>[] = [];
    const outcome = await create({ openBrowser: browser(() => ({ code: 'c' }), pages) }).obtain();
    expect(outcome).toMatchObject({ error: { error: 'invalid_grant' } });
    expect((await pages[0])?.status).toBe(400);
  });

  it('shows a page of failure and leaves nothing when the token endpoint is down', async () => {
    server.script('/token', { status: 502 });
    const pages: Promise<Response>[] = [];
    const attempt = create({ openBrowser: browser(() => ({ code: 'c' }), pages) }).obtain();
    await expect(attempt).rejects.toMatchObject({ code: 'SP_IDP_UNREACHABLE' });
    expect((await pages[0])?.status).toBe(400);
    expect(await isListening()).toBe(false);
  });

  it('does not exchange a code that comes with another issuer', async () => {
    const openBrowser = browser(() => ({ code: 'c', iss: 'https://evil.example' }));
    expect(await create({ openBrowser }).obtain()).toMatchObject({
      error: { error: 'issuer_mismatch' },
    });
    expect(server.requests).toHaveLength(0);
  });

  it('RFC 9207: does not exchange a code that comes without the issuer, where the issuer says that its answers name it', async () => {
    const metadata = metadataOf(server.origin, { redirectUri, isIssuerNamed: true });
    expect(
      await create({ openBrowser: browser(() => ({ code: 'c' })) }, { metadata }).obtain(),
    ).toMatchObject({ error: { error: 'issuer_mismatch' } });
    expect(server.requests).toHaveLength(0);
    server.script('/token', TOKENS);
    const openBrowser = browser(() => ({ code: 'c', iss: server.origin }));
    expect((await create({ openBrowser }, { metadata }).obtain()).ok).toBe(true);
  });

  it('goes on waiting when the answer to another sign-in comes first', async () => {
    server.script('/token', TOKENS);
    const outcome = await create({
      openBrowser: async (url) => {
        const foreign = await fetch(`${redirectUri}?state=wrong&code=evil`);
        expect(foreign.status).toBe(400);
        await fetch(`http://localhost:${port}/favicon.ico`);
        browser(() => ({ code: 'c0de' }))(url);
      },
    }).obtain();
    expect(outcome.ok).toBe(true);
    expect(server.requests.map(({ form }) => form['code'])).toEqual(['c0de']);
  });

  it('takes a pasted address, and says what is wrong with another', async () => {
    server.script('/token', TOKENS);
    const handed: string[] = [];
    const outcome = await create({
      pasted(take) {
        queueMicrotask(() => {
          const [prompt] = ports.prompts;
          const url = new URL(prompt?.kind === 'browser' ? prompt.url : '');
          take('nonsense');
          take(`${redirectUri}?code=c0de&state=${url.searchParams.get('state')}`);
        });
        return () => handed.push('ended');
      },
    }).obtain();
    expect(outcome.ok).toBe(true);
    expect(ports.prompts.map(({ kind }) => kind)).toEqual([
      'browser',
      'paste_refused',
      'answer_received',
    ]);
    expect(handed).toEqual(['ended']);
  });

  it('ends after its time with a hint that names the redirect URI, and leaves nothing', async () => {
    ports = createTestPorts();
    const outcome = await create({}, { timeoutMs: 180_000 }).obtain();
    expect(outcome).toMatchObject({
      error: {
        error: 'login_timed_out',
        description: 'The browser did not come back within 180 seconds.',
        hint: expect.stringContaining(redirectUri),
      },
    });
    expect(ports.waits).toEqual([180_000]);
    expect(await isListening()).toBe(false);
  });

  it('that times out where other programs crowded the port says so, and not that something is registered wrongly', async () => {
    const time = Promise.withResolvers<undefined>();
    const open: Socket[] = [];
    const outcome = await create({
      wait: () => time.promise,
      async openBrowser() {
        for (let index = 0; index < 300; index += 1)
          await new Promise<void>((resolve) => {
            open.push(connect({ host: '127.0.0.1', port }, resolve).on('error', () => {}));
          });
        // One more answer, so that all before it have been taken in.
        await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
        time.resolve(undefined);
      },
    }).obtain();
    expect(outcome).toMatchObject({ error: { error: 'login_timed_out' } });
    const hint = outcome.ok ? '' : outcome.error.hint;
    expect(hint).toContain(`port ${port}`);
    expect(hint).not.toContain('registered');
    for (const socket of open) socket.destroy();
  });

  it('called off ends at once and leaves no listener and no connection', async () => {
    const stop = new AbortController();
    const idle = Promise.withResolvers<undefined>();
    const outcome = await create({
      openBrowser: () => {
        const open = connect({ host: '127.0.0.1', port }, () => stop.abort());
        open.on('error', () => {});
        open.on('close', () => idle.resolve(undefined));
      },
    }).obtain({ signal: stop.signal });
    expect(outcome).toMatchObject({ error: { error: 'login_cancelled' } });
    await idle.promise;
    expect(await isListening()).toBe(false);
  });

  it('called off before it begins listens nowhere and shows nothing', async () => {
    expect(await create().obtain({ signal: AbortSignal.abort() })).toMatchObject({
      error: { error: 'login_cancelled' },
    });
    expect(ports.prompts).toEqual([]);
  });

  it('is refused when the port is taken, and opens no browser', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(port, '127.0.0.1', resolve));
    const outcome = await create({ openBrowser: () => expect.unreachable() }).obtain();
    expect(outcome).toMatchObject({ error: { error: 'redirect_port_in_use' } });
    expect(ports.prompts).toEqual([]);
    await closeServer(holder);
  });

  it.each([
    [{ redirectUri: 'https://platform.example.com/callback' }, 'redirect_uri_unusable'],
    [{ authorizationEndpoint: '' }, 'unsupported_grant'],
    [{ authorizationEndpoint: 'file:///etc/passwd' }, 'unsupported_grant'],
    [{ clientId: '' }, 'unsupported_grant'],
  ])('is refused on metadata with %j', async (changes, error) => {
    const metadata = metadataOf(server.origin, { redirectUri, ...changes });
    expect(await create({}, { metadata }).obtain()).toMatchObject({ error: { error } });
  });

  it('refreshes as the native app', async () => {
    server.script('/token', TOKENS);
    expect(await create().refresh?.('old')).toMatchObject({ value: { refreshToken: 'rt' } });
    expect(server.requests[0]?.form).toMatchObject({
      grant_type: 'refresh_token',
      client_id: 'native',
    });
  });
});
