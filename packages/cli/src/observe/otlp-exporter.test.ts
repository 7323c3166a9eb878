import {
  AlwaysOnSampler,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import { OtlpExporter } from './otlp-exporter.ts';

const ENDPOINT = 'http://collector.example:4318/v1/traces';
const CANARY = 'canary-7f3a';

function makeSpans(): ReadableSpan[] {
  const memory = new InMemorySpanExporter();
  const provider = new TracerProvider({
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new SimpleSpanProcessor({ exporter: memory })],
  });
  provider.getTracer('test').startSpan('GET /me').end();
  return memory.getFinishedSpans();
}

function setup(fetch: typeof globalThis.fetch, timeoutMs = 5_000) {
  const exporter = new OtlpExporter({
    endpoint: ENDPOINT,
    headers: () => ({ authorization: `Bearer ${CANARY}` }),
    fetch,
    timeoutMs,
  });
  return { exporter, send: () => exporter.send(makeSpans()) };
}

/** A collector that takes a message and never answers. */
const silent: typeof fetch = (_, init) =>
  new Promise((_resolve, reject) => {
    const { signal } = init ?? {};
    const giveUp = () => reject(signal?.reason as Error);
    if (signal?.aborted === true) giveUp();
    else signal?.addEventListener('abort', giveUp);
  });

describe('OtlpExporter', () => {
  it('posts spans as OTLP in JSON, with the headers of the file', async () => {
    const seen: { url: unknown; init: RequestInit }[] = [];
    const { send } = setup(async (url, init = {}) => {
      seen.push({ url, init });
      return new Response('{}');
    });
    await send();
    expect(seen).toMatchObject([
      {
        url: ENDPOINT,
        init: {
          method: 'POST',
          redirect: 'manual',
          headers: { authorization: `Bearer ${CANARY}`, 'content-type': 'application/json' },
        },
      },
    ]);
    const message = seen.map(({ init }) => JSON.parse((init.body as Buffer).toString()) as object);
    expect(message).toMatchObject([
      { resourceSpans: [{ scopeSpans: [{ spans: [{ name: 'GET /me' }] }] }] },
    ]);
  });

  it.each([302, 400, 401, 429, 503])(
    'fails after an answer with %i, once, and reports the status alone',
    async (status) => {
      let asked = 0;
      const { send } = setup(async () => {
        asked += 1;
        return new Response(CANARY, { status, headers: { location: 'http://elsewhere.example' } });
      });
      await expect(send()).rejects.toThrow(
        expect.objectContaining({
          name: 'CollectorError',
          message: `the collector answered with status ${status}`,
        }),
      );
      expect(asked).toBe(1);
    },
  );

  it('gives up a collector that does not answer', async () => {
    const { send } = setup(silent, 1);
    await expect(send()).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('breaks off what is under way when it is closed', async () => {
    const { exporter, send } = setup(silent);
    const sent = send();
    exporter.close();
    await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('reads no more than 64 KiB of an answer that does not end', async () => {
    let chunks = 0;
    const { send } = setup(
      async () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              chunks += 1;
              controller.enqueue(new Uint8Array(16_384));
            },
          }),
        ),
    );
    await send();
    expect(chunks).toBeLessThan(8);
  });
});
