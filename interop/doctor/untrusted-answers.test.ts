import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type FaultyPlane, IDS, json, page, startFaultyPlane } from './faulty-plane.ts';

let plane: FaultyPlane;

beforeAll(async () => {
  plane = await startFaultyPlane();
});

afterEach(() => plane.mend());

afterAll(async () => {
  await plane.close();
});

const TOKEN = '/idp/token';
// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2028\u2029]/;
const HOSTILE = 'a\u001b[2J\u001b]0;title\u0007\r\nFAIL  forged\u202e\u2028b';

/** A server that an attacker has, and what arrived there. */
async function startThief() {
  const stolen: string[] = [];
  const server = createServer((req, res) => {
    let text = JSON.stringify(req.headers);
    req.on('data', (chunk) => {
      text += String(chunk);
    });
    req.on('end', () => {
      stolen.push(text);
      json(200, {})(req, res, '');
    });
  });
  return { stolen, url: await listen(server) };
}

/** Until the test ends. */
async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('A secret goes to the configured token endpoint alone', () => {
  it.each([301, 302, 307, 308])(
    'a redirect of the token endpoint with %i is not followed',
    async (status) => {
      const { stolen, url } = await startThief();
      plane.idp.set(TOKEN, page(status, { location: `${url}/token` }));
      const { findings } = await plane.examine();
      expect(findings.map(({ code }) => code)).toContain('token_endpoint_wrong');
      expect(stolen).toEqual([]);
    },
  );

  it('metadata of another issuer names no place to send one to', async () => {
    const { stolen, url } = await startThief();
    plane.overMetadata({ issuer: url, token_endpoint: `${url}/token` });
    const { findings } = await plane.examine();
    expect(findings[0]?.code).toBe('issuer_differs');
    expect(stolen).toEqual([]);
  });

  it('a platform that names its own token endpoint is sent none', async () => {
    const { stolen, url } = await startThief();
    const metadata = { issuer: url, token_endpoint: `${url}/token`, client_id: IDS.native };
    plane.front.set('/.well-known/oauth-authorization-server', json(200, metadata));
    plane.front.set('/flyteidl2.auth.AuthMetadataService/GetOAuth2Metadata', json(200, metadata));
    await plane.examine();
    const secrets = [plane.webSecret, plane.serviceSecret].map(encodeURIComponent);
    for (const text of stolen) for (const secret of secrets) expect(text).not.toContain(secret);
    expect(stolen.filter((text) => text.includes('authorization'))).toEqual([]);
  });

  it('one that is right gets there', async () => {
    const seen: string[] = [];
    plane.idp.set(TOKEN, (req, res, body) => {
      seen.push(req.headers.authorization ?? '');
      json(400, { error: 'invalid_grant' })(req, res, body);
    });
    await plane.examine();
    const basic = Buffer.from(`${IDS.service}:${plane.serviceSecret}`).toString('base64');
    expect(seen).toContain(`Basic ${basic}`);
  });
});

/** The platform at a second address, and the tokens that arrived there. */
async function startSecondAddress() {
  const tokens: string[] = [];
  const server = createServer((req, res) => {
    if (Object.values(req.headers).some((value) => String(value).startsWith('Bearer ey')))
      tokens.push(req.url ?? '');
    const sent = request(
      `${plane.url}${req.url ?? ''}`,
      { method: req.method ?? 'GET', headers: req.headers },
      (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      },
    );
    req.pipe(sent);
  });
  return { tokens, url: await listen(server) };
}

describe('A token goes to the configured platform alone', () => {
  it('an address that no configuration names is shown none, and the report says so', async () => {
    const { tokens, url } = await startSecondAddress();
    const { probes } = await plane.examine({ url });
    expect(probes.find(({ id }) => id === 'grants.client.1.token')?.status).toBe('ok');
    expect(probes.find(({ id }) => id === 'grants.client.1.admission')).toMatchObject({
      status: 'skip',
      why: expect.stringContaining(`no configuration names ${url}`),
    });
    expect(tokens).toEqual([]);
  });

  it('one of its authorizedUris is shown it', async () => {
    const { tokens, url } = await startSecondAddress();
    const { probes } = await plane.examine({ url, config: { auth: { authorizedUris: [url] } } });
    expect(probes.find(({ id }) => id === 'grants.client.1.admission')).toMatchObject({
      status: 'ok',
    });
    expect(tokens).toEqual(['/me', '/api/v1/projects']);
  });
});

describe('Words of servers', () => {
  it('reach the terminal without a character that it obeys, from each server', async () => {
    plane.idp.set(TOKEN, json(400, { error: 'invalid_scope', error_description: HOSTILE }));
    plane.overMetadata({ code_challenge_methods_supported: [HOSTILE] });
    plane.setCookie = () => `a\u0085b=${'x'.repeat(5_000)}; SameSite=Strict`;
    const { findings, text } = await plane.examine();
    expect(findings.length).toBeGreaterThan(2);
    expect(text).not.toMatch(OBEYED);
    for (const { what, evidence } of findings)
      for (const line of [what, ...evidence]) expect(line).not.toMatch(OBEYED);
  });

  it('do not give back a secret that was sent', async () => {
    plane.idp.set(TOKEN, (req, res, body) => {
      const sent = `${req.headers.authorization ?? ''} ${decodeURIComponent(body)}`;
      json(401, { error: 'invalid_client', error_description: `you sent ${sent}` })(req, res, body);
    });
    const { text, findings } = await plane.examine();
    expect(findings.map(({ code }) => code)).toContain('client_or_secret_wrong');
    for (const secret of [plane.webSecret, plane.serviceSecret]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(`${IDS.web}:${secret}`).toString('base64'));
      expect(text).not.toContain(Buffer.from(`${IDS.service}:${secret}`).toString('base64'));
    }
  });

  it('are read to a limit', async () => {
    plane.idp.set('/.well-known/openid-configuration', (_, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(`{"issuer":"${'x'.repeat(2_000_000)}"}`);
    });
    const { findings } = await plane.examine();
    expect(findings[0]).toMatchObject({ code: 'no_http_answer', probe: 'issuer.http' });
    expect(findings[0]?.what).toContain('answers too much');
    expect(findings[0]?.evidence.join(' ')).toContain('too_large');
  });

  it('without an end at the token endpoint are called what they are', async () => {
    plane.idp.set(TOKEN, (_, res) => res.end('x'.repeat(2_000_000)));
    const { findings } = await plane.examine();
    expect(findings[0]).toMatchObject({ code: 'no_http_answer', probe: 'grants.web' });
    expect(findings[0]?.what).toContain('answers too much');
    expect(findings[0]?.evidence.join(' ')).toContain('too_large');
  });

  it('that are no HTTP are called so', async () => {
    plane.idp.set(TOKEN, (_, res) =>
      res.socket?.end('HTTP/1.1 200 OK\r\nbad header: \u0001\r\n\r\n'),
    );
    const { findings } = await plane.examine();
    expect(findings[0]).toMatchObject({ code: 'no_http_answer', probe: 'grants.web' });
    expect(findings[0]?.what).toContain('answers no HTTP');
    expect(findings[0]?.evidence.join(' ')).toContain('HPE_');
  });

  it('that come too slowly are called so', async () => {
    plane.idp.set(TOKEN, (_, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.write('{');
    });
    const { findings } = await plane.examine();
    expect(findings[0]).toMatchObject({ code: 'no_http_answer', probe: 'grants.web' });
    expect(findings[0]?.what).toContain('answers too slowly');
    expect(findings[0]?.evidence.join(' ')).toContain('too_slow');
  }, 20_000);

  it('whose headers come too slowly are called so, and silence is called silence', async () => {
    plane.front.set('*', () => {});
    plane.idp.set(TOKEN, (_, res) => res.socket?.write('HTTP/1.1 200 OK\r\nx-slow: '));
    const { findings } = await plane.examine();
    const said = new Map(findings.map(({ probe, what, evidence }) => [probe, [what, ...evidence]]));
    expect(said.get('platform.http')?.join(' ')).toMatch(
      /takes connections and does not answer .*ETIMEDOUT/,
    );
    expect(said.get('grants.web')?.join(' ')).toMatch(
      /sends the headers of its answer too slowly.*headers_slow/,
    );
  }, 30_000);
});
