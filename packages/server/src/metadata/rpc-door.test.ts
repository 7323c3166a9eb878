import { createServer } from 'node:http';
import * as http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRpcDoor, type RpcDoor } from './rpc-door.ts';

const PATH = '/grpc.health.v1.Health/Check';

/** A service with the door alone; what the door does not answer is 404. */
async function serve(load: () => Promise<RpcDoor>) {
  const logged: unknown[] = [];
  const log = (level: string, event: string) => logged.push([level, event]);
  const door = createRpcDoor({ paths: new Set([PATH]), load, log });
  const closed = Promise.withResolvers<void>();
  const server = createServer((req, res) => {
    res.once('close', closed.resolve);
    if (!door(req, res, undefined)) res.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const post = (path: string, init: RequestInit = {}) =>
    fetch(origin + path, { method: 'POST', body: 'question', ...init });
  return { post, logged, closed: closed.promise };
}

/** Answers with what it was sent. */
const echo: RpcDoor = (req, res) => {
  req.pipe(res);
  return true;
};

describe('The door of RPC calls', () => {
  it('loads the services once, at the first call, and answers all that came meanwhile', async () => {
    let loads = 0;
    const loading = Promise.withResolvers<RpcDoor>();
    const { post } = await serve(() => {
      loads += 1;
      return loading.promise;
    });
    expect([(await post('/other')).status, loads]).toEqual([404, 0]);
    const first = [post(`${PATH}?encoding=json`), post(PATH)];
    loading.resolve(echo);
    const answers = await Promise.all([...first, post(PATH)]);
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    expect(texts).toEqual(['question', 'question', 'question']);
    expect(loads).toBe(1);
  });

  it('answers 503 and says so while they cannot be loaded, and tries again at the next call', async () => {
    let loads = 0;
    const { post, logged } = await serve(async () => {
      loads += 1;
      if (loads === 1) throw new Error('Cannot find module');
      return echo;
    });
    const failed = await post(PATH);
    expect([failed.status, failed.headers.get('cache-control')]).toEqual([503, 'no-store']);
    expect(logged).toEqual([['warn', 'rpc_broken_off']]);
    expect(await (await post(PATH)).text()).toBe('question');
    expect([loads, logged.length]).toEqual([2, 1]);
  });

  it('answers 503 where what was loaded throws or does not have the path', async () => {
    const throwing = await serve(async () => () => {
      throw new Error('a defect');
    });
    expect((await throwing.post(PATH)).status).toBe(503);
    const without = await serve(async () => () => false);
    expect((await without.post(PATH)).status).toBe(503);
    expect([throwing.logged.length, without.logged.length]).toEqual([1, 1]);
  });

  it('hands over no call whose client has gone', async () => {
    const { load, loading, begun } = loadingByHand();
    const { post, closed } = await serve(load);
    const gone = new AbortController();
    const broken = post(PATH, { signal: gone.signal });
    await begun;
    gone.abort();
    await expect(broken).rejects.toThrow('aborted');
    await closed;
    expect(await handedOver(loading, () => post(PATH))).toBe(1);
  });

  it('hands over no call whose HTTP/2 stream was reset', async () => {
    const { load, loading, begun } = loadingByHand();
    const closed = Promise.withResolvers<void>();
    const door = createRpcDoor({ paths: new Set([PATH]), load, log: () => {} });
    const server = http2.createServer((req, res) => {
      res.stream.on('error', () => {}).once('close', closed.resolve);
      door(req, res, undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    onTestFinished(() => {
      session.destroy();
      server.close();
    });
    const request = { ':method': 'POST', ':path': PATH };
    const broken = session.request(request).on('error', () => {});
    await begun;
    broken.close(http2.constants.NGHTTP2_CANCEL);
    await closed.promise;
    const answered = () =>
      new Promise((resolve) => session.request(request).once('response', resolve).end());
    expect(await handedOver(loading, answered)).toBe(1);
  });
});

/** What loads the services when the test says so. */
function loadingByHand() {
  const loading = Promise.withResolvers<RpcDoor>();
  const begun = Promise.withResolvers<void>();
  const load = () => {
    begun.resolve();
    return loading.promise;
  };
  return { load, loading, begun: begun.promise };
}

/** How many calls the services are given once they are loaded and `call` is answered. */
async function handedOver(
  loading: PromiseWithResolvers<RpcDoor>,
  call: () => Promise<unknown>,
): Promise<number> {
  let handed = 0;
  loading.resolve((req, res, identity) => {
    handed += 1;
    return echo(req, res, identity);
  });
  await call();
  return handed;
}
