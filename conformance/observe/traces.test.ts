/**
 * Distributed traces, as a collector and the caller of the real command see them.
 *
 * @module
 */

import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { exchange, type Received } from '../wire/exchange.ts';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import { type Service, startHostedService } from '../wire/platform.ts';
import { SESSION_COOKIE } from '../wire/sign-in.ts';
import {
  type ReceivedSpan,
  startTraceCollector,
  startTraced,
  type TraceCollector,
  tracesFile,
} from '../wire/trace-collector.ts';
import { logOf, PATIENCE } from '../wire/workers.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';
const SAMPLED = `00-${TRACE_ID}-${PARENT_ID}-01`;
const NOT_SAMPLED = `00-${TRACE_ID}-${PARENT_ID}-00`;
const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;
/** Of an access token. */
const LIFETIME_MS = 600_000;

const childrenOf = (spans: readonly ReceivedSpan[], parent: ReceivedSpan | undefined) =>
  spans.filter((span) => span.parentSpanId === parent?.spanId);

describe('A traced request', () => {
  let clock: MovedClock;
  let collector: TraceCollector;
  let service: Service;
  beforeAll(async () => {
    clock = await startMovedClock({ movesTimers: true });
    collector = await startTraceCollector(clock);
    service = await startTraced(collector, 'sample: 1', {}, { clock });
    service.idp.now = clock.now;
  });
  afterAll(async () => {
    await service.stop();
    await collector.close();
    await clock.close();
  });
  // What went before has arrived once this has: spans come in the order in which they end.
  beforeEach(async () => {
    await exchange(`${service.url}/readyz`);
    await collector.wait('GET /readyz');
    collector.forget();
  });

  it('continues the trace of the ingress, under ids of its own, tracestate and all', async () => {
    const headers = { traceparent: SAMPLED, tracestate: 'vendor=a,other=b' };
    expect((await exchange(`${service.url}/me?token=x`, { headers })).status).toBe(401);
    const [span] = await collector.wait('GET /me');
    expect(span).toMatchObject({
      traceId: TRACE_ID,
      parentSpanId: PARENT_ID,
      traceState: 'vendor=a,other=b',
      kind: SERVER,
      status: 0,
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/me',
        'http.response.status_code': 401,
        'network.protocol.version': '1.1',
        'url.scheme': 'http',
        'sallyport.door': 'me',
        'sallyport.outcome': 'refused',
        'sallyport.reason': 'no_credential',
      },
    });
    expect(span?.spanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
    expect(span?.spanId).not.toBe(PARENT_ID);
    expect(span?.resource).toMatchObject({
      'service.name': 'sallyport',
      'service.version': expect.stringMatching(/^\d+\.\d+\.\d+/),
      'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('shows a sign-in as one: the callback, below it the calls to the IdP and the new session', async () => {
    const browser = new Browser();
    expect((await service.signIn(browser)).status).toBe(302);
    const [callback] = await collector.wait('GET /callback');
    const [created] = await collector.wait('session_store create');
    const [token] = await collector.wait('idp token');
    const below = childrenOf(collector.spans, callback);
    expect(below).toContainEqual(token);
    expect(below).toContainEqual(created);
    expect(token).toMatchObject({
      kind: CLIENT,
      attributes: {
        'sallyport.operation': 'token',
        'http.request.method': 'POST',
        'http.response.status_code': 200,
        'server.address': '127.0.0.1',
        'server.port': Number(new URL(service.idp.issuer).port),
      },
    });
    expect(created).toMatchObject({
      kind: CLIENT,
      attributes: { 'db.system.name': 'sqlite', 'db.operation.name': 'create' },
    });
    for (const span of below) {
      expect(span.traceId).toBe(callback?.traceId);
      expect(span.lasted[0]).toBeGreaterThanOrEqual(callback?.lasted[0] ?? 0n);
      expect(span.lasted[1]).toBeLessThanOrEqual(callback?.lasted[1] ?? 0n);
    }
    // The next request is another trace: the first read of the session belongs to it.
    await browser.step(`${service.url}/me`);
    const [me] = await collector.wait('GET /me');
    expect(me?.traceId).not.toBe(callback?.traceId);
    expect(me?.attributes).toMatchObject({ 'sallyport.outcome': 'admitted' });
  });

  it('names its trace in the log lines it causes', async () => {
    await service.signIn(new Browser());
    const [callback] = await collector.wait('GET /callback');
    await expect
      .poll(
        () => logOf(service.running).findLast(({ event }) => event === 'session_begun'),
        PATIENCE,
      )
      .toMatchObject({ trace_id: callback?.traceId });
  });

  it('sends the IdP nothing of the trace', async () => {
    const headers = { traceparent: SAMPLED, tracestate: 'vendor=a' };
    const sent = await exchange(`${service.url}/login`, { headers });
    await service.signIn(new Browser());
    await collector.wait('idp token');
    const received = JSON.stringify(service.idp.requests.map((seen) => seen.headers));
    expect(received).not.toMatch(/traceparent|tracestate|baggage/i);
    expect(sent.location).not.toContain(TRACE_ID);
  });

  it('fails its span when the IdP is away, and that of the call', async () => {
    const browser = new Browser();
    const login = await browser.step(`${service.url}/login?redirect_url=/`);
    const answer = service.idp.authorize(login.location ?? '');
    await service.idp.goDown();
    const back = await browser.step(`${service.url}/callback?${answer.toString()}`);
    await service.idp.comeUp();
    expect(back.status).toBe(503);
    const [callback] = await collector.wait('GET /callback');
    const [token] = await collector.wait('idp token');
    expect(callback).toMatchObject({ status: ERROR, attributes: { 'error.type': '503' } });
    expect(token).toMatchObject({ status: ERROR });
    expect(token?.attributes).toHaveProperty('error.type');
  });

  it('never shows a path that is no route, nor a method that does not exist', async () => {
    await exchange(`${service.url}/auth/canary-path?canary=1`);
    await exchange(`${service.url}/login`, { method: 'PROPFIND' });
    await collector.wait('HTTP /login');
    expect(collector.messages.map(({ body }) => body).join()).not.toMatch(/canary|PROPFIND/);
  });

  it('begins a trace of its own after a malformed traceparent, and is answered as without', async () => {
    const sent = [
      ['', ''],
      ['canary', 'canary'],
      [`00-${'0'.repeat(32)}-${PARENT_ID}-01`, 'a=1'],
      [`00-${TRACE_ID}-${'0'.repeat(16)}-01`, 'a=1'],
      [`ff-${TRACE_ID}-${PARENT_ID}-01`, 'a=1'],
      [`${SAMPLED}-canary`, 'a=1'],
      [`${SAMPLED}, ${SAMPLED}`, 'a=1'],
      [`00-${TRACE_ID.toUpperCase()}-${PARENT_ID}-01`, 'a=1'],
      ['0'.repeat(16_000), 'canary,'.repeat(2_000)],
    ] as const;
    for (const [traceparent, tracestate] of sent) {
      const headers = { traceparent, tracestate };
      expect((await exchange(`${service.url}/me`, { headers })).status).toBe(401);
    }
    const spans = await collector.wait('GET /me', sent.length);
    for (const span of spans) {
      expect(span).toMatchObject({ parentSpanId: '', traceState: '' });
      expect(span.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
      expect(span.traceId).not.toBe(TRACE_ID);
    }
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(sent.length);
    expect(collector.messages.map(({ body }) => body).join()).not.toContain('canary');
  });

  it('keeps of a tracestate what is well-formed, 512 characters at most', async () => {
    const many = Array.from({ length: 100 }, (_, index) => `k${index}=1`).join();
    const kept = async (tracestate: string, index: number) => {
      await exchange(`${service.url}/me`, { headers: { traceparent: SAMPLED, tracestate } });
      const spans = await collector.wait('GET /me', index + 1);
      expect(spans[index]?.traceId).toBe(TRACE_ID);
      return spans[index]?.traceState ?? '';
    };
    expect(await kept('=;,,=,a', 0)).toBe('');
    expect(await kept('A=1,b=2', 1)).toBe('b=2');
    expect(await kept(`a=${'x'.repeat(600)},b=2`, 2)).toBe('b=2');
    const members = (await kept(many, 3)).split(',');
    expect(members).toEqual(many.split(',').slice(0, 32));
  });

  it('that begins a renewal is linked to the trace of its own that the renewal has, with the call to the IdP below', async () => {
    const browser = new Browser();
    await service.signIn(browser, '/', { rotation: { accessTokenSeconds: LIFETIME_MS / 1_000 } });
    await clock.advance(LIFETIME_MS - 10_000);
    expect((await browser.step(`${service.url}/me`)).status).toBe(200);
    const [renewal] = await collector.wait('session renewal');
    expect(renewal).toMatchObject({
      parentSpanId: '',
      kind: 1,
      attributes: { 'sallyport.outcome': 'renewed' },
    });
    const began = () => collector.spans.find(({ spanId }) => spanId === renewal?.links[0]?.spanId);
    await collector.wait('GET /me');
    await expect
      .poll(began, PATIENCE)
      .toMatchObject({ name: 'GET /me', traceId: renewal?.links[0]?.traceId });
    expect(began()?.traceId).not.toBe(renewal?.traceId);
    const [refresh] = await collector.wait('idp refresh');
    const [replaced] = await collector.wait('session_store replace');
    for (const span of [refresh, replaced])
      expect(span).toMatchObject({ traceId: renewal?.traceId, parentSpanId: renewal?.spanId });
  });

  it('leaves nothing to the next one on its connection', async () => {
    const { port } = new URL(service.url);
    // A cookie of a session that is not known has the store asked each time.
    const head = (traceparent: string, last = false) =>
      `GET /me HTTP/1.1\r\nhost: localhost\r\ncookie: ${SESSION_COOKIE}=AAAAAAAB.${'A'.repeat(43)}\r\ntraceparent: ${traceparent}\r\n${last ? 'connection: close\r\n' : ''}\r\n`;
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(head(SAMPLED) + head(NOT_SAMPLED) + head(NOT_SAMPLED, true));
    let answered = '';
    for await (const chunk of socket) answered += String(chunk);
    expect(answered.match(/HTTP\/1\.1 401/g)).toHaveLength(3);
    await exchange(`${service.url}/healthz`);
    await collector.wait('GET /healthz');
    const [me, ...more] = collector.spans.filter(({ name }) => name === 'GET /me');
    expect(more).toEqual([]);
    const reads = collector.spans.filter(({ name }) => name.startsWith('session_store'));
    expect(reads.length).toBeGreaterThan(0);
    for (const read of reads) expect(read.parentSpanId).toBe(me?.spanId);
    // Each operation once: those of the other two requests are in no span.
    expect(new Set(reads.map(({ name }) => name)).size).toBe(reads.length);
  });
});

describe('What is traced', () => {
  let collector: TraceCollector;
  beforeEach(async () => {
    collector = await startTraceCollector();
  });
  afterEach(() => collector.close());

  /** Asks `/me` so many times, one after another; ends the service, so that every span has come. */
  async function askAndStop(
    service: Service,
    times: number,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly count: number; readonly seconds: number }> {
    const startedAt = performance.now();
    for (let asked = 0; asked < times; asked += 1)
      expect((await exchange(`${service.url}/me`, { headers })).status).toBe(401);
    const seconds = (performance.now() - startedAt) / 1_000;
    await service.stop();
    const count = collector.spans.filter(({ name }) => name === 'GET /me').length;
    return { count, seconds };
  }

  it('is a share of the requests that bring no trace', async () => {
    const { count } = await askAndStop(await startTraced(collector, 'sample: 0.5'), 400);
    // Ten standard deviations to either side.
    expect(count).toBeGreaterThan(100);
    expect(count).toBeLessThan(300);
  });

  it('is no request of those with a share of 0', async () => {
    const { count } = await askAndStop(await startTraced(collector, 'sample: 0'), 50);
    expect(count).toBe(0);
  });

  it('is no request whose caller does not record its trace, even with a share of 1', async () => {
    const headers = { traceparent: NOT_SAMPLED };
    const { count } = await askAndStop(await startTraced(collector), 50, headers);
    expect(count).toBe(0);
  });

  it('cannot be forced beyond the bound by a caller who says that every trace is recorded', async () => {
    const service = await startTraced(collector, 'sample: 0, continuedPerSecond: 3');
    const headers = { traceparent: SAMPLED };
    const { count, seconds } = await askAndStop(service, 200, headers);
    expect(count).toBeGreaterThanOrEqual(3);
    expect(count).toBeLessThanOrEqual(3 * (1 + seconds));
    expect(count).toBeLessThan(200);
  });

  it('is no trace that the caller began, with a bound of 0', async () => {
    const service = await startTraced(collector, 'sample: 0, continuedPerSecond: 0');
    expect((await askAndStop(service, 20, { traceparent: SAMPLED })).count).toBe(0);
  });

  it('is nothing without an endpoint of our own, whatever the environment names, and answers are the same', async () => {
    const { endpoint } = collector;
    const off = await startHostedService(
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: new URL(endpoint).origin,
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint,
        OTEL_TRACES_SAMPLER: 'always_on',
      },
      [],
      undefined,
      tracesFile('sample: 1'),
    );
    const on = await startTraced(collector);
    const headers = { traceparent: SAMPLED, 'x-request-id': 'request-0001' };
    const shown = ({ status, headers: received, body }: Received, url: string) => {
      const { date: _, 'set-cookie': cookies, location, ...rest } = received;
      const kept = JSON.stringify({ status, rest, body, cookies: cookies?.length ?? 0 });
      return kept.replaceAll(url, 'URL') + typeof location;
    };
    for (const path of ['/me', '/login', '/auth/session', '/healthz', '/nothing']) {
      const [one, other] = await Promise.all(
        [off, on].map(async ({ url }) => shown(await exchange(url + path, { headers }), url)),
      );
      expect(one).toBe(other);
    }
    await on.stop();
    const before = collector.messages.length;
    expect(before).toBeGreaterThan(0);
    expect(collector.spans.filter(({ name }) => name === 'GET /me')).toHaveLength(1);
    await off.stop();
    expect(collector.messages).toHaveLength(before);
  });

  it('comes from each worker by itself, under an instance id of its own', async () => {
    const service = await startTraced(collector, 'sample: 1', { SALLYPORT_WORKERS: '2' }, {});
    const instances = () =>
      new Set(collector.spans.map(({ resource }) => resource['service.instance.id']));
    await expect
      .poll(async () => {
        await Promise.all(Array.from({ length: 20 }, () => exchange(`${service.url}/me`)));
        return instances().size;
      }, PATIENCE)
      .toBe(2);
    await service.stop();
  });
});
