/**
 * The webhook on the wire, without an API server.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../../conformance/wire/process.ts';
import { startWebhook, type Webhook } from './webhook.ts';

const POD = {
  metadata: { labels: { 'sallyport/inject-api-key': 'true' } },
  spec: { containers: [{ name: 'main' }] },
};
const PATIENCE = { timeout: 20_000, interval: 100 };

function reviewOf(object: object): string {
  return JSON.stringify({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: 'u-1',
      resource: { group: '', version: 'v1', resource: 'pods' },
      operation: 'CREATE',
      object,
    },
  });
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly connection: string | undefined;
  /** SHA-256 of the certificate it came under. */
  readonly fingerprint: string;
}

interface Asked {
  readonly path?: string;
  readonly method?: string;
  /** Pieces of a body are sent in chunks. */
  readonly body?: string | readonly string[] | undefined;
  readonly agent?: Agent;
  readonly authority?: string;
}

/** Asks over TLS that is verified. */
async function ask(
  webhook: Webhook,
  { path = '/inject', method = 'POST', body, agent, authority }: Asked,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request(
    {
      ...{ host: 'localhost', port: webhook.port, path, method },
      family: 4,
      ca: authority ?? webhook.certificates.authority,
      agent: agent ?? false,
    },
    resolve,
  );
  sent.once('error', reject);
  if (typeof body === 'object') {
    for (const piece of body) sent.write(piece);
    sent.end();
  } else sent.end(body);
  const answer = await promise;
  const { fingerprint256 } = (answer.socket as TLSSocket).getPeerCertificate();
  let text = '';
  for await (const piece of answer) text += String(piece);
  const { connection } = answer.headers;
  return { status: answer.statusCode ?? 0, text, connection, fingerprint: fingerprint256 };
}

describe('sallyport inject', () => {
  let webhook: Webhook;
  beforeAll(async () => {
    webhook = await startWebhook();
  });
  afterAll(() => webhook.stop());

  it('answers a review over TLS with a patch that adds the API key', async () => {
    const before = await webhook.metric('sallyport_inject_reviews_total{outcome="injected"}');
    const { status, text } = await ask(webhook, { body: reviewOf(POD) });
    expect(status).toBe(200);
    const { response } = JSON.parse(text) as { response: { patch: string; uid: string } };
    expect(response.uid).toBe('u-1');
    expect(atob(response.patch)).toContain('"name":"EAGER_API_KEY"');
    expect(await webhook.metric('sallyport_inject_reviews_total{outcome="injected"}')).toBe(
      before + 1,
    );
  });

  it('says at /healthz and /readyz that it can be asked', async () => {
    for (const path of ['/healthz', '/readyz']) {
      expect((await ask(webhook, { path, method: 'GET' })).status).toBe(200);
      expect((await ask(webhook, { path })).status).toBe(405);
    }
  });

  it.each([
    ['no JSON', 'pod', 400, 'no JSON'],
    ['no review', '{"kind":"Pod"}', 400, 'expected an AdmissionReview'],
    ['a review without a uid', reviewOf(POD).replace('"u-1"', '7'), 400, 'no uid'],
    ['no body', undefined, 400, 'no JSON'],
    ['a body of 5 MB', `"${'x'.repeat(5_000_000)}"`, 413, 'larger than 4 MiB'],
    ['a body of 5 MB in chunks', ['"', 'x'.repeat(5_000_000)], 413, 'larger than 4 MiB'],
    ['JSON a hundred thousand levels deep', '['.repeat(100_000), 413, 'deeper than 64 levels'],
    ['JSON of a million lists', `[${'[],'.repeat(1_000_000)}[]]`, 413, 'too many values'],
  ])('refuses %s and goes on', async (_, body, status, sentence) => {
    const before = await webhook.metric('sallyport_inject_reviews_total{outcome="malformed"}');
    const answer = await ask(webhook, { body });
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(sentence)]);
    expect(await webhook.metric('sallyport_inject_reviews_total{outcome="malformed"}')).toBe(
      before + 1,
    );
    expect((await ask(webhook, { body: reviewOf(POD) })).status).toBe(200);
  });

  it('answers the review of a pod as large as Kubernetes keeps one', async () => {
    const env = Array.from({ length: 20_000 }, (_, n) => ({
      name: `N${n}`,
      value: 'x'.repeat(40),
    }));
    const pod = { ...POD, spec: { containers: [{ name: 'main', env }] } };
    const body = reviewOf(pod);
    expect(body.length).toBeGreaterThan(1_300_000);
    expect((await ask(webhook, { body })).text).toContain('"patchType":"JSONPatch"');
  });

  it('has a heap that fits the memory limit of its chart', () => {
    const command = readFileSync(`/proc/${webhook.process.pid}/cmdline`, 'utf8').split('\0');
    expect(command.filter((part) => part.includes('old-space-size')).at(-1)).toBe(
      '--max-old-space-size=96',
    );
  });

  it('has nothing at another path, and takes reviews by POST alone', async () => {
    expect((await ask(webhook, { path: '/', body: reviewOf(POD) })).status).toBe(404);
    expect((await ask(webhook, { method: 'GET' })).status).toBe(405);
  });

  it('closes a connection without TLS, unanswered', async () => {
    const socket = connect(webhook.port, '127.0.0.1');
    socket.write('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n');
    let said = '';
    for await (const piece of socket.on('error', () => {})) said += String(piece);
    expect(said).toBe('');
  });

  it('logs neither pod nor answer', async () => {
    const pod = { ...POD, spec: { containers: [{ name: 'canary-7f3a' }] } };
    expect((await ask(webhook, { body: reviewOf(pod) })).status).toBe(200);
    expect(webhook.process.stderr()).not.toContain('canary');
  });
});

describe('More connections than sallyport inject keeps', () => {
  it('do not keep an API server out: the one that has been idle longest is closed, counted and logged', async () => {
    const webhook = await startWebhook();
    onTestFinished(async () => void (await webhook.stop()));
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    const idle = Array.from({ length: 256 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    onTestFinished(() => {
      for (const agent of [kept, ...idle]) agent.destroy();
    });
    const probe = { path: '/healthz', method: 'GET' };
    for (const agent of idle.slice(0, 255)) await ask(webhook, { ...probe, agent });
    await ask(webhook, { body: reviewOf(POD), agent: kept });
    for (const agent of idle.slice(255)) await ask(webhook, { ...probe, agent });
    const again = await ask(webhook, { body: reviewOf(POD), agent: kept });
    expect([again.status, (await ask(webhook, { body: reviewOf(POD) })).status]).toEqual([
      200, 200,
    ]);
    expect(
      await webhook.metric('sallyport_inject_connections_closed_total{state="idle"}'),
    ).toBeGreaterThanOrEqual(2);
    expect(webhook.process.stderr()).toContain('connection_limit');
  });
});

describe('The certificate of sallyport inject', () => {
  it('is exchanged without the end of a connection, and shown from the next handshake on', async () => {
    const webhook = await startWebhook();
    onTestFinished(async () => void (await webhook.stop()));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const old = webhook.certificates.fingerprint();
    expect((await ask(webhook, { body: reviewOf(POD), agent })).fingerprint).toBe(old);
    webhook.certificates.renew();
    const renewed = webhook.certificates.fingerprint();
    await expect
      .poll(async () => (await ask(webhook, { body: reviewOf(POD) })).fingerprint, PATIENCE)
      .toBe(renewed);
    const kept = await ask(webhook, { body: reviewOf(POD), agent });
    expect([kept.status, kept.fingerprint]).toEqual([200, old]);
    expect(
      await webhook.metric('sallyport_inject_certificate_changes_total{result="loaded"}'),
    ).toBe(1);
  });

  it('stays when the new files are unusable, and the log says so without the key', async () => {
    const webhook = await startWebhook();
    onTestFinished(async () => void (await webhook.stop()));
    const before = webhook.certificates.fingerprint();
    webhook.certificates.replace('canary-7f3a', 'canary-7f3b');
    await expect.poll(() => webhook.process.stderr(), PATIENCE).toContain('certificate_kept');
    expect((await ask(webhook, { body: reviewOf(POD) })).fingerprint).toBe(before);
    expect(webhook.process.stderr()).not.toContain('canary');
    webhook.certificates.renew();
    await expect
      .poll(async () => (await ask(webhook, { body: reviewOf(POD) })).fingerprint, PATIENCE)
      .toBe(webhook.certificates.fingerprint());
  });

  it('stays while the new file is half written', async () => {
    const webhook = await startWebhook();
    onTestFinished(async () => void (await webhook.stop()));
    const before = webhook.certificates.fingerprint();
    const { authority, certFile, keyFile } = webhook.certificates;
    const chain = `${readFileSync(certFile, 'utf8')}${authority.slice(0, 300)}`;
    webhook.certificates.replace(chain, readFileSync(keyFile, 'utf8'));
    await expect
      .poll(() => webhook.process.stderr(), PATIENCE)
      .toMatch(/certificate_kept.*tls\.crt/);
    expect((await ask(webhook, { body: reviewOf(POD) })).fingerprint).toBe(before);
  });

  it('is needed at the start', async () => {
    const files = ['--tls-cert', '/nonexistent/tls.crt', '--tls-key', '/nonexistent/tls.key'];
    const { code, stderr } = await run(['inject', '--listen', '127.0.0.1:0', ...files]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('/nonexistent/tls.crt: found no such file'),
    ]);
  });
});

describe('The stop of sallyport inject', () => {
  it('shows at /readyz while reviews are still answered, and ends with 0', async () => {
    const webhook = await startWebhook({ drainDelay: '2s' });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    expect((await ask(webhook, { body: reviewOf(POD), agent })).connection).toBe('keep-alive');
    webhook.process.signal('SIGTERM');
    await expect
      .poll(async () => (await ask(webhook, { path: '/readyz', method: 'GET' })).status, PATIENCE)
      .toBe(503);
    expect((await ask(webhook, { body: reviewOf(POD) })).status).toBe(200);
    // The connection that was there is answered until an answer says that it was the last.
    let last: Answer;
    do {
      last = await ask(webhook, { body: reviewOf(POD), agent });
      expect(last.status).toBe(200);
      await pause(50);
    } while (last.connection !== 'close');
    expect(await webhook.process.ended).toBe(0);
    await webhook.stop();
  });
});
