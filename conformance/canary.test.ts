import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from './wire/browser.ts';
import { exchange, type Received } from './wire/exchange.ts';
import { type Service, startService, WEB_CLIENT_SECRET } from './wire/platform.ts';
import { temporaryFolder } from './wire/process.ts';

/** A place where something secret could come out. */
interface Sink {
  readonly name: string;
  readonly text: string;
}

/** Every spelling a secret could come out in. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
}

function findLeaks(sinks: readonly Sink[], secrets: ReadonlyMap<string, string>): string[] {
  return sinks.flatMap(({ name, text }) =>
    [...secrets]
      .filter(([, secret]) => spellings(secret).some((spelling) => text.includes(spelling)))
      .map(([what]) => `${what} in ${name}`),
  );
}

/** Set-Cookie and Location carry cookies, state and code to the browser: that is what they are for. */
function sinksOf(received: Received, label: string): Sink[] {
  const { 'set-cookie': _, location: __, ...headers } = received.headers;
  return [
    { name: `body of ${label}`, text: received.body },
    { name: `headers of ${label}`, text: JSON.stringify(headers) },
  ];
}

describe('No response, log line or error holds a secret, token, cookie value or code', () => {
  let service: Service;
  let removeFolder = (): void => {};
  const secrets = new Map<string, string>();
  const sinks: Sink[] = [];

  beforeAll(async () => {
    // Everything is written that can be.
    const folder = temporaryFolder();
    const auditFile = join(folder.path, 'audit.jsonl');
    removeFolder = folder.remove;
    service = await startService({
      SALLYPORT_LOG_LEVEL: 'trace',
      SALLYPORT_SAMPLE_SUCCESSES: '1',
      SALLYPORT_AUDIT_FILE: auditFile,
    });
    const { url, idp } = service;
    const browser = new Browser();
    const ask = async (label: string, path: string, visit: Parameters<Browser['step']>[1] = {}) => {
      const received = await browser.step(url + path, visit);
      sinks.push(...sinksOf(received, label));
      return received;
    };
    let idToken = '';
    idp.forge = async (forgery) => {
      idToken = await idp.honest(forgery);
      return idToken;
    };

    const login = await ask('/login', '/login?redirect_url=/x');
    const callback = idp.authorize(login.location ?? '');
    secrets.set('state', callback.get('state') ?? '');
    secrets.set('code', callback.get('code') ?? '');
    secrets.set('attempt cookie', browser.cookie('localhost', 'core_login_0') ?? '');
    await ask('/callback', `/callback?${callback}`);
    const session = browser.cookie('localhost', 'core_session') ?? '';
    secrets.set('session cookie', session);
    secrets.set('session secret', session.split('.')[1] ?? '');
    secrets.set('id token', idToken);
    secrets.set('access token', 'access-token-of-ada');
    secrets.set('refresh token', 'refresh-token-of-ada');
    secrets.set('client secret', WEB_CLIENT_SECRET);
    secrets.set('PKCE verifier', idp.tokenForms[0]?.get('code_verifier') ?? '');
    const ring = JSON.parse(readFileSync(`${service.state}/key-ring.json`, 'utf8')) as {
      keys: { key: string }[];
    };
    secrets.set('sealing key', ring.keys[0]?.key ?? '');
    const bearer = 'canary-bearer-token-0123456789';
    secrets.set('bearer', bearer);

    await ask('/me', '/me');
    await ask('/me as JSON', '/me', { headers: { accept: 'application/json' } });
    await ask('/me with a bearer', '/me', {
      headers: { 'core-authorization': `Bearer ${bearer}` },
    });
    await ask('/me with two bearers', '/me', {
      headers: { 'core-authorization': `Bearer ${bearer}`, authorization: 'Bearer x' },
    });
    // The headers in which an ingress describes the original request may hold anything, in its query and beside it.
    for (const [label, original] of [
      ['a secret in the query', `/x?code=${secrets.get('code')}&token=${bearer}#${session}`],
      ['a cookie in the path', `/projects/${session}`],
      ['a token in the path', `/projects/${idToken}`],
    ] as const) {
      await ask(`/me for ${label}`, '/me', {
        headers: { 'x-original-uri': original, 'user-agent': `curl ${session} Bearer ${idToken}` },
      });
      sinks.push(
        ...sinksOf(
          await exchange(`${url}/me`, {
            headers: { 'x-original-uri': original, 'user-agent': `curl ${session}` },
          }),
          `a refusal for ${label}`,
        ),
      );
    }
    await ask("/logout with secrets in the browser's name", '/logout', {
      headers: { 'user-agent': `${session} Bearer ${idToken}` },
    });
    await ask('/auth/session', '/auth/session');
    await ask('/auth/account', '/auth/account');
    await ask('/auth/signed-in', '/auth/signed-in');
    await ask('/healthz', '/healthz');
    await ask('/readyz', '/readyz');
    await ask('a replayed callback', `/callback?${callback}`);
    await ask('/logout', '/logout');
    await ask('an unknown route', `/nothing?token=${bearer}`);
    await ask('a callback with a repeated code', `/callback?${callback}&code=again`);
    await ask(
      'a login with a bad target',
      `/login?redirect_url=${encodeURIComponent(`https://evil.example/${session}`)}&prompt=login`,
    );

    // Failures speak too: each way the IdP can answer wrongly.
    for (const answer of [
      {
        status: 400,
        body: JSON.stringify({
          error: 'invalid_client',
          error_description: `bad ${WEB_CLIENT_SECRET.slice(0, 3)}`,
        }),
      },
      { status: 500, body: 'broken' },
      { body: '{"access_token":"access-token-of-ada", not json' },
      {
        body: JSON.stringify({
          access_token: 'access-token-of-ada',
          token_type: 'Bearer',
          id_token: `${idToken}x`,
        }),
      },
    ]) {
      idp.answer = () => answer;
      const stranger = new Browser();
      const sent = await stranger.step(`${url}/login`);
      const back = await stranger.step(`${url}/callback?${idp.authorize(sent.location ?? '')}`);
      sinks.push(...sinksOf(back, `a failed callback (${answer.body.slice(0, 12)})`));
    }
    idp.answer = undefined;
    sinks.push(
      ...sinksOf(
        await exchange(`${url}/callback?state=${secrets.get('state')}&error=${bearer}`),
        'a forged error',
      ),
    );
    sinks.push(
      ...sinksOf(
        await exchange(`${url}/me`, {
          headers: { cookie: `core_session=${session.replace(/.$/, '')}` },
        }),
        'a cut cookie',
      ),
    );
    await ask('sign-out', '/logout', {
      method: 'POST',
      headers: { origin: url, 'user-agent': `${session} Bearer ${idToken}` },
    });
    await service.running.stop();
    sinks.push(
      { name: 'stdout', text: service.running.stdout() },
      { name: 'log', text: service.running.stderr() },
      { name: 'audit stream', text: readFileSync(auditFile, 'utf8') },
    );
  });
  afterAll(async () => {
    await service.stop();
    removeFolder();
  });

  it('holds through every route, every failure, stdout, the log at trace with every verdict, and the audit stream', () => {
    expect([...secrets.values()].every((secret) => secret.length > 5)).toBe(true);
    expect(sinks.length).toBeGreaterThan(35);
    const textOf = (name: string) => sinks.find((sink) => sink.name === name)?.text;
    expect(textOf('log')).toContain('"event":"verdict"');
    expect(textOf('log')).toContain('"path":"/projects/[redacted]"');
    for (const event of ['session_begun', 'session_ended', 'sign_in_failed', 'bearer_refused'])
      expect(textOf('audit stream')).toContain(`"event":"${event}"`);
    expect(findLeaks(sinks, secrets)).toEqual([]);
  });

  it('would find a leak planted in each sink, in any spelling', () => {
    for (const sink of sinks) {
      for (const [what, secret] of secrets) {
        for (const spelling of spellings(secret)) {
          const planted = [{ name: sink.name, text: `${sink.text} ${spelling} ` }];
          expect(findLeaks(planted, new Map([[what, secret]]))).toEqual([
            `${what} in ${sink.name}`,
          ]);
        }
      }
    }
  });
});
