import { RecordedSpan, RecordingTracer } from '@sallyport/testing/server/recording-tracer';
import { describe, expect, it } from 'vitest';
import { traceFetch } from './trace-fetch.ts';

const CANARY = 'canary-7f3a';
const TOKEN_URL = `https://idp.example.com/${CANARY}/token?hint=${CANARY}`;
const TOKEN_REQUEST: RequestInit = {
  method: 'POST',
  headers: { authorization: `Basic ${CANARY}` },
  body: new URLSearchParams({ grant_type: 'authorization_code', code: CANARY }),
};

/** Fetches within a span; returns the spans of the calls. */
async function fetchWithin(
  fetch: typeof globalThis.fetch,
  url: string,
  init?: RequestInit,
): Promise<readonly RecordedSpan[]> {
  const tracer = new RecordingTracer();
  const request = new RecordedSpan(tracer, 'request', { name: 'GET /callback', attributes: {} });
  let response: Promise<Response> | undefined;
  request.run(() => {
    response = traceFetch(fetch, ['https://meta.example.com/doc'], tracer)(url, init);
  });
  await response;
  return tracer.spans;
}

describe('traceFetch', () => {
  it('without a tracer is the very same fetch: off costs nothing', () => {
    expect(traceFetch(fetch, [], undefined)).toBe(fetch);
  });

  it('holds operation, server and status, and neither path, query, header nor body', async () => {
    const spans = await fetchWithin(async () => new Response(CANARY), TOKEN_URL, TOKEN_REQUEST);
    expect(spans).toHaveLength(1);
    expect(spans[0]).toMatchObject({ kind: 'call', name: 'idp token', failures: [] });
    expect(spans[0]?.attributes).toEqual({
      'sallyport.operation': 'token',
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'server.address': 'idp.example.com',
      'server.port': 443,
    });
  });

  it('adds no trace header: the request is the one it was given', async () => {
    const seen: unknown[] = [];
    await fetchWithin(
      async (...call) => {
        seen.push(call);
        return new Response();
      },
      TOKEN_URL,
      TOKEN_REQUEST,
    );
    expect(seen).toEqual([[TOKEN_URL, TOKEN_REQUEST]]);
  });

  it('names a configured place of metadata, and any port', async () => {
    const answer = async () => new Response();
    expect((await fetchWithin(answer, 'https://meta.example.com/doc'))[0]?.name).toBe(
      'idp discovery',
    );
    const [span] = await fetchWithin(answer, 'http://127.0.0.1:8080/jwks');
    expect(span).toMatchObject({ name: 'idp jwks', attributes: { 'server.port': 8080 } });
  });

  it('fails the span of an answer with 503, and not that of one with 400', async () => {
    const failuresOf = async (status: number) =>
      (await fetchWithin(async () => new Response('', { status }), TOKEN_URL, TOKEN_REQUEST))[0]
        ?.failures;
    expect(await failuresOf(503)).toEqual(['503']);
    expect(await failuresOf(400)).toEqual([]);
  });

  it('makes no span for what is fetched ahead of need, outside of any request', async () => {
    const tracer = new RecordingTracer();
    await traceFetch(async () => new Response(), [], tracer)(TOKEN_URL, TOKEN_REQUEST);
    expect(tracer.spans).toEqual([]);
  });

  it('passes a failure on as it is', async () => {
    const failure = new TypeError('fetch failed');
    await expect(fetchWithin(() => Promise.reject(failure), TOKEN_URL)).rejects.toBe(failure);
  });
});
