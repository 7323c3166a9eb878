import { Code, createClient } from '@connectrpc/connect';
import { Health, HealthCheckResponse_ServingStatus as Status } from '@sallyport/protocol/protobuf';
import {
  failure,
  IDENTITIES,
  SERVICES,
  startFront,
  transportOf,
} from '@sallyport/testing/server/running-front';
import { callWithGrpcJs } from '@sallyport/testing/wire/rpc-clients';
import { describe, expect, it } from 'vitest';

describe('grpc.health.v1.Health', () => {
  const KNOWN = ['', ...[...SERVICES, ...IDENTITIES, Health].map(({ typeName }) => typeName)];

  it.each(KNOWN)(
    'Check of "%s" is SERVING when ready, NOT_SERVING otherwise, without a credential',
    async (service) => {
      const { port, readiness } = await startFront();
      const client = createClient(Health, transportOf(port, 'gRPC'));
      expect((await client.check({ service })).status).toBe(Status.SERVING);
      readiness.isReady = false;
      expect((await client.check({ service })).status).toBe(Status.NOT_SERVING);
    },
  );

  it('Check of an unknown service is NOT_FOUND', async () => {
    const { port } = await startFront();
    const client = createClient(Health, transportOf(port, 'gRPC'));
    expect((await failure(client.check({ service: 'x.Y' }))).code).toBe(Code.NotFound);
  });

  it('answers @grpc/grpc-js', async () => {
    const { port } = await startFront();
    const { check } = Health.method;
    const { response } = await callWithGrpcJs(port, check);
    expect(response).toMatchObject({ status: Status.SERVING });
  });

  it('Watch says each change, and ends when the service stops', async () => {
    const { port, readiness, timers, stopping } = await startFront();
    const client = createClient(Health, transportOf(port, 'gRPC'));
    const stream = client.watch({ service: '' })[Symbol.asyncIterator]();
    expect((await stream.next()).value).toMatchObject({ status: Status.SERVING });
    timers.fire(1_000);
    readiness.isReady = false;
    const change = stream.next();
    await new Promise(setImmediate);
    timers.fire(1_000);
    expect((await change).value).toMatchObject({ status: Status.NOT_SERVING });
    const end = failure(stream.next());
    stopping.abort();
    expect((await end).code).toBe(Code.Unavailable);
  });

  it('Watch of an unknown service says so and goes on', async () => {
    const { port } = await startFront();
    const client = createClient(Health, transportOf(port, 'gRPC'));
    const stream = client.watch({ service: 'x.Y' })[Symbol.asyncIterator]();
    expect((await stream.next()).value).toMatchObject({ status: Status.SERVICE_UNKNOWN });
    await stream.return?.();
  });

  it('no longer looks once the watcher has gone', async () => {
    const { port, timers } = await startFront();
    const client = createClient(Health, transportOf(port, 'gRPC'));
    const gone = new AbortController();
    const stream = client.watch({ service: '' }, { signal: gone.signal })[Symbol.asyncIterator]();
    await stream.next();
    expect(timers.waiting).toContain(1_000);
    gone.abort();
    await failure(stream.next());
    await expect.poll(() => timers.waiting).not.toContain(1_000);
  });
});
