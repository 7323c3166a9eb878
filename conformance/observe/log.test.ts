/**
 * The log of verdicts, and what no line of the log can be made to do.
 *
 * @module
 */

import { afterEach, describe, expect, it } from 'vitest';
import { ADA, idOf, signIn } from '../cli/operator.ts';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { type Service, startHostedService } from '../wire/platform.ts';
import { SESSION_COOKIE } from '../wire/sign-in.ts';
import { logOf, PATIENCE } from '../wire/workers.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

describe('The log of verdicts', () => {
  let service: Service | undefined;
  afterEach(() => service?.stop());

  async function startWith(environment: Readonly<Record<string, string>>): Promise<Service> {
    service = await startHostedService(environment);
    return service;
  }
  const verdictsOf = ({ running }: Service) =>
    logOf(running).filter(({ event }) => event === 'verdict');
  const cookieOf = (browser: Browser) =>
    `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE) ?? ''}`;
  const me = ({ url }: Service, headers: Readonly<Record<string, string>> = {}) =>
    exchange(`${url}/me`, { headers });

  it('says of a sampled admission who, which door, which request, and the path without its query', async () => {
    const running = await startWith({ SALLYPORT_SAMPLE_SUCCESSES: '1' });
    const browser = await signIn(running, ADA, 'Firefox');
    const answer = await me(running, {
      cookie: cookieOf(browser),
      'x-original-uri': '/projects/one?code=canary-7f3a',
      'x-original-method': 'GET',
      'x-request-id': 'request-0001',
      traceparent: `00-${TRACE}-b7ad6b7169203331-01`,
    });
    expect(answer.status).toBe(200);
    await expect
      // Lines of the sign-in may still be on their way.
      .poll(
        () => verdictsOf(running).filter((line) => line['request_id'] === 'request-0001'),
        PATIENCE,
      )
      .toEqual([
        {
          level: 'info',
          time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
          event: 'verdict',
          door: 'me',
          outcome: 'admitted',
          issuer: running.idp.issuer,
          subject: 'ada',
          session: idOf(browser),
          method: 'GET',
          path: '/projects/one',
          request_id: 'request-0001',
          trace_id: TRACE,
        },
      ]);
    expect(running.running.stderr()).not.toContain('canary');
  });

  it('has no admission by default, and every refusal under the id of its answer', async () => {
    const running = await startWith({});
    const browser = await signIn(running, ADA, 'Firefox');
    for (let turn = 0; turn < 20; turn += 1)
      expect((await me(running, { cookie: cookieOf(browser) })).status).toBe(200);
    const answer = await me(running, { 'x-original-uri': '/projects' });
    const { request_id } = JSON.parse(answer.body) as { readonly request_id: string };
    expect(answer.status).toBe(401);
    await expect
      .poll(() => verdictsOf(running).at(-1), PATIENCE)
      .toMatchObject({
        ...{ door: 'me', outcome: 'refused', reason: 'no_credential' },
        ...{ path: '/projects', request_id },
      });
    expect(verdictsOf(running).filter(({ outcome }) => outcome === 'admitted')).toEqual([]);
  });

  it('has the configured share of the admissions', async () => {
    const running = await startWith({ SALLYPORT_SAMPLE_SUCCESSES: '0.1' });
    const browser = await signIn(running, ADA, 'Firefox');
    const cookie = cookieOf(browser);
    const ask = async (count: number) => {
      for (let turn = 0; turn < count; turn += 1) await me(running, { cookie });
    };
    await Promise.all(Array.from({ length: 10 }, () => ask(100)));
    await running.running.stop();
    const admitted = verdictsOf(running).filter(({ outcome }) => outcome === 'admitted').length;
    // Of 1,000 with a standard deviation of 9.5.
    expect(admitted).toBeGreaterThan(40);
    expect(admitted).toBeLessThan(160);
  });

  it('is bounded for refused requests, and says how many lines it left out', async () => {
    const running = await startWith({});
    const asked = 400;
    const ask = async (count: number) => {
      for (let turn = 0; turn < count; turn += 1) await me(running);
    };
    await Promise.all(Array.from({ length: 8 }, () => ask(asked / 8)));
    await running.running.stop();
    const left = logOf(running.running)
      .filter((line) => line['suppressed_event'] === 'verdict refused')
      .reduce((sum, line) => sum + Number(line['suppressed']), 0);
    expect(left).toBeGreaterThan(asked / 4);
    expect(verdictsOf(running).length + left).toBe(asked);
  });

  it('is not there where lines of its level are not written', async () => {
    const running = await startWith({
      SALLYPORT_SAMPLE_SUCCESSES: '1',
      SALLYPORT_LOG_LEVEL: 'warn',
    });
    const browser = await signIn(running, ADA, 'Firefox');
    await me(running, { cookie: cookieOf(browser) });
    await me(running);
    await running.running.stop();
    expect(verdictsOf(running)).toEqual([]);
  });
});

describe('A line of the log', () => {
  it('holds nothing that a terminal obeys or that hides text, whatever a browser calls itself or an ingress says of the path', async () => {
    const service = await startHostedService({ SALLYPORT_SAMPLE_SUCCESSES: '1' });
    // Header values arrive as Latin-1: C1 controls as themselves.
    const hostile = 'Mozilla \u009b31m\u0085 \u00ad"},{"level":"audit","event":"forged"}';
    const browser = new Browser();
    const headers = { 'user-agent': hostile };
    const sent = await browser.step(`${service.url}/login`, { headers });
    const query = service.idp.authorize(sent.location ?? '', { userInfo: ADA });
    await browser.step(`${service.url}/callback?${query}`, { headers });
    await exchange(`${service.url}/me`, { headers: { 'x-original-uri': `/${hostile}` } });
    const begun = () => logOf(service.running).find(({ event }) => event === 'session_begun');
    await expect.poll(begun, PATIENCE).toBeDefined();
    await service.stop();
    // Read back it is what was sent; on a screen it is nothing but escapes.
    expect(begun()).toMatchObject({ browser: hostile });
    expect(service.running.stderr().replaceAll('\n', '')).not.toMatch(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u,
    );
    const lines = logOf(service.running);
    expect(lines.filter(({ event }) => event === 'forged')).toEqual([]);
    const refused = lines.find((line) => line['reason'] === 'no_credential' && line['path']);
    expect(refused).toMatchObject({ path: `/${hostile}` });
  });
});
