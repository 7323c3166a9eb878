import { ROUTE_GROUPS } from '@sallyport/protocol';
import { PUBLIC_ORIGIN } from '@sallyport/testing/server/fixed-check';
import { startFront } from '@sallyport/testing/server/running-front';
import { callPathWithGrpcJs } from '@sallyport/testing/wire/rpc-clients';
import { talk } from '@sallyport/testing/wire/wire-client';
import { describe, expect, it } from 'vitest';

describe('a request that goes round every ingress', () => {
  const names = [
    ...new Set(ROUTE_GROUPS.filter((group) => group.protected).map(({ name }) => name)),
  ];
  const paths = ROUTE_GROUPS.filter((group) => group.protected).flatMap((group) => {
    const match = group.matches[0] ?? '';
    if (group.transport === 'http') return [[group.name, match] as const];
    const [service = '', method = 'Method'] = match.split('/');
    return [[group.name, `/${service}/${method.replace('*', 'X')}`] as const];
  });

  it('is tried on each protected group', () => {
    expect(paths.map(([name]) => name)).toEqual(names);
  });

  it.each(paths)('%s: %s is 401 without a good credential and 404 with one', async (_, path) => {
    const { url } = await startFront();
    const status = async (headers: Record<string, string>) =>
      (await fetch(url + path, { headers, redirect: 'manual' })).status;
    expect(await status({})).toBe(401);
    expect(await status({ 'core-http': 'Bearer bad' })).toBe(401);
    expect(await status({ 'core-http': 'Bearer good' })).toBe(404);
  });

  it.each(paths)(
    '%s: %s as a gRPC call is UNAUTHENTICATED, and UNIMPLEMENTED with a good credential',
    async (_, path) => {
      const { port } = await startFront();
      const call = async (headers: Record<string, string>) =>
        (await callPathWithGrpcJs(port, path, headers)).error?.code;
      expect(await call({})).toBe(16);
      expect(await call({ 'core-grpc': 'Bearer bad' })).toBe(16);
      expect(await call({ 'core-grpc': 'Bearer good' })).toBe(12);
    },
  );

  const RPC = '/flyteidl.service.AdminService/GetVersion';

  it('a stream that the ingress lets through unasked is verified here', async () => {
    const { url } = await startFront();
    const call = async (more: Record<string, string>) =>
      fetch(`${url}/flyteidl.service.WatchService/WatchExecutionStatusUpdates`, {
        method: 'POST',
        headers: { 'content-type': 'application/proto', ...more },
      });
    expect((await call({})).status).toBe(401);
    expect((await call({ 'core-grpc': 'Bearer good' })).status).toBe(501);
  });

  it.each([
    [
      'Connect',
      { 'content-type': 'application/proto', 'connect-protocol-version': '1' },
      '{"code":"unauthenticated"',
      401,
      '{"code":"unimplemented"',
      501,
    ],
    [
      'Connect without its version header',
      { 'content-type': 'application/proto' },
      '{"code":"unauthenticated"',
      401,
      '{"code":"unimplemented"',
      501,
    ],
    ['gRPC-Web', { 'content-type': 'application/grpc-web+proto' }, '', 200, '', 200],
  ])(
    '%s gets its own protocol’s answer',
    async (_, headers, refusal, refusedStatus, missing, missingStatus) => {
      const { url } = await startFront();
      const call = async (more: Record<string, string>) =>
        fetch(url + RPC, { method: 'POST', headers: { ...headers, ...more } });
      const refused = await call({});
      expect([refused.status, (await refused.text()).slice(0, refusal.length)]).toEqual([
        refusedStatus,
        refusal,
      ]);
      const unimplemented = await call({ 'core-grpc': 'Bearer good' });
      expect([unimplemented.status, (await unimplemented.text()).slice(0, missing.length)]).toEqual(
        [missingStatus, missing],
      );
      if (refusedStatus === 200) {
        expect([
          refused.headers.get('grpc-status'),
          unimplemented.headers.get('grpc-status'),
        ]).toEqual(['16', '12']);
        expect(refused.headers.get('content-type')).toMatch(/^application\/grpc-web/);
      }
    },
  );

  it('by a browser is 401 too: an ingress that admits what is refused here must not send it round', async () => {
    const { port } = await startFront();
    const open = (more: string) =>
      talk(
        port,
        `GET /v1 HTTP/1.1\r\nhost: a\r\naccept: text/html\r\nsec-fetch-mode: navigate\r\nconnection: close\r\n${more}\r\n`,
      );
    const refused = await open('');
    expect(refused).toMatch(/^HTTP\/1\.1 401 /);
    expect(refused).toContain(`"login_url":"${PUBLIC_ORIGIN}/login"`);
    expect(refused).not.toContain('location:');
    expect(await open('core-http: Bearer good\r\n')).toMatch(/^HTTP\/1\.1 404 /);
  });

  it.each([
    '/v1/../login',
    '/login/../v1/projects',
    '//v1/projects',
    '/%76%31/projects',
    '/login%2f..%2fv1',
    'http://evil.example/v1/projects',
    '*',
    '/grpc.health.v1.Health/Other',
    '/grpc.health.v1.Health/Check/x',
    '/readyz/x',
    '/FLYTEIDL.service.AuthMetadataService/GetOAuth2Metadata/..',
  ])('spelt %s, is no way round the door', async (target) => {
    const { port } = await startFront();
    const answer = await talk(
      port,
      `GET ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 40[01] /);
  });

  it.each(['/login', '/readyz', '/healthz', '/auth/session'])('%s is open', async (path) => {
    const { url, fixed } = await startFront();
    expect(await (await fetch(url + path)).text()).toBe('router');
    expect(fixed.asked).toEqual([]);
  });

  it('slides the session cookie of an admitted person', async () => {
    const { url } = await startFront();
    const response = await fetch(`${url}/v1`, { headers: { 'core-http': 'Bearer slid' } });
    expect(response.headers.getSetCookie()).toEqual(['__Host-core_session=slid; Path=/']);
  });
});
