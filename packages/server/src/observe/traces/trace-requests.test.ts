import { EventEmitter } from 'node:events';
import { PATHS } from '@sallyport/protocol';
import { type RecordedSpan, RecordingTracer } from '@sallyport/testing/server/recording-tracer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../listener/connections.ts';
import { traceRequests } from './trace-requests.ts';

const requestOf = (url: string, method = 'GET', httpVersionMajor = 1): HttpRequest =>
  ({ url, method, headers: {}, httpVersionMajor }) as unknown as HttpRequest;

/** An answer that is written at once, with a status. */
class Answer extends EventEmitter {
  headersSent = false;
  statusCode = 200;

  write(status: number): void {
    this.statusCode = status;
    this.headersSent = true;
    this.emit('close');
  }
}

function serve(req: HttpRequest, work: (answer: Answer) => void): RecordedSpan {
  const tracer = new RecordingTracer();
  const answer = new Answer();
  const handler = traceRequests(() => work(answer), tracer);
  handler(req, answer as unknown as HttpResponse);
  const [span, ...more] = tracer.spans;
  expect(more).toEqual([]);
  if (span === undefined) throw new Error('there is no span');
  return span;
}

describe('traceRequests', () => {
  it('without a tracer is the very same handler: off costs nothing', () => {
    const handler: HttpHandler = () => {};
    expect(traceRequests(handler, undefined)).toBe(handler);
    expect(traceRequests(handler, new RecordingTracer())).not.toBe(handler);
  });

  it('serves a request that is not picked without a span, and once', () => {
    const tracer = new RecordingTracer();
    tracer.isTracing = false;
    const served: unknown[] = [];
    const req = requestOf('/me');
    const answer = new Answer();
    const res = answer as unknown as HttpResponse;
    traceRequests((...call) => served.push(call), tracer)(req, res);
    expect(served).toEqual([[req, res]]);
    expect(tracer.spans).toEqual([]);
    expect(answer.listenerCount('close')).toBe(0);
  });

  it('names a span by method and route, and says version and status', () => {
    const span = serve(requestOf('/me?secret=canary'), (answer) => answer.write(200));
    expect(span.name).toBe('GET /me');
    expect(span.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/me',
      'http.response.status_code': 200,
      'network.protocol.version': '1.1',
      'url.scheme': 'http',
    });
    expect(span.failures).toEqual([]);
    expect(span.ends).toBe(1);
  });

  it.each([
    ...Object.values(PATHS),
    '/flyteidl.service.AuthMetadataService/GetOAuth2Metadata',
    '/flyteidl2.auth.IdentityService/UserInfo',
    '/grpc.health.v1.Health/Watch',
  ])('knows the route %s', (path) => {
    const span = serve(requestOf(path, 'POST', 2), (answer) => answer.write(200));
    expect(span.name).toBe(`POST ${path}`);
    expect(span.attributes).toMatchObject({ 'network.protocol.version': '2' });
  });

  it('never shows a path that is no route of ours, whatever it holds', () => {
    const routes = new Set<string>(Object.values(PATHS));
    fc.assert(
      fc.property(fc.webPath(), fc.string(), (path, tail) => {
        const url = `${path}canary-7f3a${tail}`;
        fc.pre(!routes.has(url));
        const span = serve(requestOf(url), (answer) => answer.write(404));
        expect(JSON.stringify([span.name, span.attributes])).not.toContain('canary');
        expect(span.name).toBe('GET');
        expect(span.attributes).not.toHaveProperty('http.route');
      }),
    );
  });

  it('has one name for every unknown method', () => {
    const span = serve(requestOf('/me', 'CANARY'), (answer) => answer.write(405));
    expect(span.name).toBe('HTTP /me');
    expect(span.attributes).toMatchObject({ 'http.request.method': '_OTHER' });
  });

  it.each([500, 502, 503])('fails the span of an answer with %i', (status) => {
    const span = serve(requestOf('/login'), (answer) => answer.write(status));
    expect(span.failures).toEqual([String(status)]);
  });

  it.each([200, 302, 401, 403, 404, 429])('does not fail that of one with %i', (status) => {
    expect(serve(requestOf('/login'), (answer) => answer.write(status)).failures).toEqual([]);
  });

  it('ends the span of a caller that hung up, without a status', () => {
    const span = serve(requestOf('/login'), (answer) => answer.emit('close'));
    expect(span.attributes).not.toHaveProperty('http.response.status_code');
    expect([span.ends, span.failures]).toEqual([1, []]);
  });
});
