import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import type { FakeIdp } from '@sallyport/testing/idp/fake-idp';
import { honestDocument, startMetadataServer } from '@sallyport/testing/idp/metadata-server';
import { Clock } from '@sallyport/testing/time/clock';
import { Timers } from '@sallyport/testing/time/timers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createIssuers } from '../issuers.ts';
import { createMetadataSource, type MetadataSource } from './authorization-server-metadata.ts';

const WAIT_MS = 5_000;
const REFRESH_MS = 600_000;
const DAY_MS = 86_400_000;

function setup(folder: string | undefined = createTemporaryFolder(), clock = new Clock()) {
  const timers = new Timers();
  const events: string[] = [];
  const issuers = createIssuers({
    fetch,
    now: clock.now,
    schedule: timers.schedule,
    random: () => 0,
  });
  const source: MetadataSource = createMetadataSource({
    issuers,
    now: clock.now,
    log: (_, event) => events.push(event),
    folder,
  });
  onTestFinished(() => issuers.close());
  return { folder, clock, timers, events, source, issuers };
}

/** Waits for a line of the log. */
async function logged(events: readonly string[], event: string): Promise<void> {
  await expect.poll(() => events).toContain(event);
}

/** Runs until the document is on disk, then ends. */
async function runOnce(server: FakeIdp, folder: string, clock: Clock): Promise<void> {
  const { source, issuers } = setup(folder, clock);
  await source.of(server.issuer).need();
  await expect.poll(() => readdirSync(folder)).toEqual([expect.stringMatching(/\.json$/)]);
  issuers.close();
}

function pathsAsked({ requests }: FakeIdp): readonly string[] {
  return requests.map(({ path }) => path);
}

function keptFile(folder: string): string {
  return join(folder, readdirSync(folder)[0] ?? '');
}

describe('the document of an authorization server', () => {
  it('is fetched from the discovery address of its issuer', async () => {
    const server = await startMetadataServer();
    const { source } = setup();
    expect(await source.of(server.issuer).need()).toEqual(honestDocument(server.issuer));
    expect(pathsAsked(server)).toEqual(['/.well-known/openid-configuration']);
  });

  it('is fetched from the registered place of RFC 8414 when the first has none', async () => {
    const server = await startMetadataServer();
    const issuer = `${server.issuer}/tenant`;
    server.answers.set('*', (res, { path }) => {
      if (path.startsWith('/tenant')) res.writeHead(404).end();
      else res.end(JSON.stringify(honestDocument(issuer)));
    });
    const { source } = setup();
    expect(await source.of(issuer).need()).toEqual(honestDocument(issuer));
    expect(pathsAsked(server)).toEqual([
      '/tenant/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server/tenant',
    ]);
  });

  it('is fetched from metadataUrl alone when that is configured', async () => {
    const server = await startMetadataServer();
    server.answers.set('*', (res) => res.end(JSON.stringify(honestDocument(server.issuer))));
    const { source } = setup();
    await source.of(server.issuer, `${server.issuer}/meta`).need();
    expect(pathsAsked(server)).toEqual(['/meta']);
  });

  it('is fetched once for all who name the same issuer', async () => {
    const server = await startMetadataServer();
    const { source } = setup();
    const [one, other] = [source.of(server.issuer), source.of(server.issuer)];
    await Promise.all([one.need(), other.need(), one.need()]);
    expect(other).toBe(one);
    expect(pathsAsked(server)).toHaveLength(1);
  });

  it('is another one under another address', async () => {
    const server = await startMetadataServer();
    const { source } = setup();
    expect(source.of(server.issuer, `${server.issuer}/meta`)).not.toBe(source.of(server.issuer));
  });

  it('is answered from memory and refreshed ahead, and a change is reported to listeners', async () => {
    const server = await startMetadataServer();
    const { source, timers } = setup();
    const metadata = source.of(server.issuer);
    const seen: unknown[] = [];
    const first = await metadata.need();
    metadata.onChange((document) => seen.push(document.token_endpoint));
    timers.fire(REFRESH_MS);
    await expect.poll(() => timers.waiting).toContain(REFRESH_MS);
    expect(metadata.current).toBe(first);
    server.metadata = { token_endpoint: `${server.issuer}/new` };
    timers.fire(REFRESH_MS);
    await expect.poll(() => metadata.current).not.toBe(first);
    expect(seen).toEqual([`${server.issuer}/token`, `${server.issuer}/new`]);
    expect(pathsAsked(server)).toHaveLength(3);
  });

  it('stays while a refresh fails, however long', async () => {
    const server = await startMetadataServer();
    const { source, timers, events, clock } = setup();
    const metadata = source.of(server.issuer);
    const document = await metadata.need();
    await server.goDown();
    clock.advance(30 * DAY_MS);
    timers.fire(REFRESH_MS);
    await logged(events, 'authorization_server_metadata_failed');
    expect(metadata.current).toBe(document);
    expect(await metadata.need()).toBe(document);
  });

  it.each<readonly [string, (server: FakeIdp) => void]>([
    ['names another issuer', (server) => (server.metadata = { issuer: 'https://evil.example' })],
    [
      'has an endpoint off https',
      (server) => (server.metadata = { token_endpoint: 'http://evil.example/t' }),
    ],
    [
      'redirects',
      (server) =>
        server.answers.set('*', (res) => res.writeHead(302, { location: '/elsewhere' }).end()),
    ],
    [
      'answers an error',
      (server) => server.answers.set('*', (res) => res.writeHead(500).end('{}')),
    ],
    ['answers a page', (server) => server.answers.set('*', (res) => res.end('<html>'))],
    [
      'answers more than 1 MiB',
      (server) => server.answers.set('*', (res) => res.end(' '.repeat(1_048_577))),
    ],
    ['hangs up', (server) => server.answers.set('*', (res) => res.destroy())],
  ])('of a server that %s is not there', async (_, lie) => {
    const server = await startMetadataServer();
    lie(server);
    const folder = createTemporaryFolder();
    const { source } = setup(folder);
    const metadata = source.of(server.issuer);
    expect(await metadata.need()).toBeUndefined();
    expect(metadata.current).toBeUndefined();
    expect(pathsAsked(server)).not.toContain('/elsewhere');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('of a server that answers nothing is waited for five seconds, and used when it comes', async () => {
    const server = await startMetadataServer();
    const { promise, resolve } = Promise.withResolvers<() => void>();
    server.answers.set('*', (res) =>
      resolve(() => res.end(JSON.stringify(honestDocument(server.issuer)))),
    );
    const { source, timers } = setup();
    const metadata = source.of(server.issuer);
    const needed = metadata.need();
    const answer = await promise;
    timers.fire(WAIT_MS);
    expect(await needed).toBeUndefined();
    answer();
    await expect.poll(() => metadata.current).toBeDefined();
  });

  it('of a server that is down is tried again by itself, and by requests once a second at most', async () => {
    const server = await startMetadataServer();
    await server.goDown();
    const { source, timers, clock, events } = setup();
    const metadata = source.of(server.issuer);
    expect(await metadata.need()).toBeUndefined();
    const failures = () =>
      events.filter((event) => event === 'authorization_server_metadata_failed').length;
    for (let ask = 0; ask < 10; ask += 1) expect(await metadata.need()).toBeUndefined();
    expect(failures()).toBe(1);
    clock.advance(1_000);
    expect(await metadata.need()).toBeUndefined();
    expect(failures()).toBe(2);
    await server.comeUp();
    timers.fire(1_000);
    await expect.poll(() => metadata.current).toBeDefined();
  });

  it('that inlines keys is passed on and kept without them', async () => {
    const server = await startMetadataServer();
    server.metadata = { jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } };
    const folder = createTemporaryFolder();
    const { source } = setup(folder);
    expect(await source.of(server.issuer).need()).not.toHaveProperty('jwks');
    await expect.poll(() => readdirSync(folder)).toHaveLength(1);
    expect(readFileSync(keptFile(folder), 'utf8')).not.toContain('c2VjcmV0');
  });
});

describe('after a restart while the server is down', () => {
  async function restart(
    change: (file: string) => void = () => {},
    afterMs = 1_000,
  ): Promise<ReturnType<typeof setup> & { readonly server: FakeIdp }> {
    const server = await startMetadataServer();
    const folder = createTemporaryFolder();
    const clock = new Clock();
    await runOnce(server, folder, clock);
    await server.goDown();
    change(keptFile(folder));
    clock.advance(afterMs);
    return { ...setup(folder, clock), server };
  }

  it('the kept document answers at once', async () => {
    const { source, server, events } = await restart();
    expect(source.of(server.issuer).current).toEqual(honestDocument(server.issuer));
    expect(events).toContain('kept_metadata_read');
  });

  it('the kept document answers for a day, counted from when it was fetched', async () => {
    const { source, server, clock } = await restart(() => {}, DAY_MS - 5);
    const metadata = source.of(server.issuer);
    expect(metadata.current).toBeDefined();
    clock.advance(6);
    expect(metadata.current).toBeUndefined();
    expect(await metadata.need()).toBeUndefined();
  });

  it('a document older than a day is ignored, and the log says so', async () => {
    const { source, server, events } = await restart(() => {}, DAY_MS + 1);
    expect(source.of(server.issuer).current).toBeUndefined();
    expect(events).toContain('kept_metadata_ignored');
  });

  it.each<readonly [string, (file: string) => void]>([
    ['damaged', (file) => writeFileSync(file, '{"version":1,')],
    [
      'of another issuer',
      (file) =>
        writeFileSync(file, readFileSync(file, 'utf8').replaceAll('127.0.0.1', 'localhost')),
    ],
    ['that others could write', (file) => chmodSync(file, 0o602)],
  ])('a file %s is ignored, and the log says so', async (_, change) => {
    const { source, server, events } = await restart(change);
    expect(source.of(server.issuer).current).toBeUndefined();
    expect(events).toContain('kept_metadata_ignored');
  });

  it('the server’s own word replaces the kept one as soon as it is back', async () => {
    const { source, server, timers, events } = await restart();
    const metadata = source.of(server.issuer);
    await logged(events, 'authorization_server_metadata_failed');
    server.metadata = { token_endpoint: `${server.issuer}/new` };
    await server.comeUp();
    timers.fire(1_000);
    await expect.poll(() => metadata.current?.token_endpoint).toBe(`${server.issuer}/new`);
  });

  it('another issuer does not find it', async () => {
    const { source } = await restart();
    expect(source.of('http://127.0.0.1:1').current).toBeUndefined();
  });

  it('a folder that cannot be written costs a line in the log, and no answer', async () => {
    const server = await startMetadataServer();
    const { source, events } = setup('/dev/null/metadata');
    expect(await source.of(server.issuer).need()).toBeDefined();
    await logged(events, 'metadata_not_kept');
  });
});
