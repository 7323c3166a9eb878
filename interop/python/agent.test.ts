import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callGrpc } from '../../conformance/wire/grpc.ts';
import { type MovedClock, startMovedClock } from '../../conformance/wire/moved-clock.ts';
import { type Running, start, temporaryFolder } from '../../conformance/wire/process.ts';
import { requirePart } from '../parts.ts';
import { type ClientHost, startClientHost } from './client-host.ts';
import { findPythonClients } from './python-clients.ts';
import { type SecurePlane, startSecurePlane } from './secure-plane.ts';
import { createWorkstation } from './workstation.ts';

const CLIENTS = await findPythonClients();
const STEP_MS = 10 * 60_000;
const STEPS = 7;
/** Within this of its end the agent replaces the token (client library, refresh window). */
const REFRESH_WINDOW_MS = 300_000;
const SERVICE_GRANT = 'sallyport-service client_credentials';

describe.skipIf(CLIENTS.isLeftOut)('released Python clients on sallyport agent', () => {
  const folder = temporaryFolder();
  const [tokenFile, socket] = [join(folder.path, 'token'), join(folder.path, 'run', 's')];
  const capabilityFile = join(folder.path, 'capability');
  let clock: MovedClock;
  let host: ClientHost;
  let plane: SecurePlane;
  let agent: Running;

  beforeAll(async () => {
    clock = await startMovedClock({ movesTimers: true });
    [host, plane] = await Promise.all([
      startClientHost(requirePart(CLIENTS)),
      startSecurePlane(undefined, clock.environment),
    ]);
    const config = join(folder.path, 'agent.yaml');
    writeFileSync(
      config,
      [
        'admin:',
        `  endpoint: dns:///${plane.authority}`,
        `  caCertFilePath: ${plane.caFile}`,
        'union:',
        '  auth:',
        '    enable: true',
        `    clientId: ${plane.serviceClientId}`,
        `    clientSecretLocation: ${plane.serviceSecretFile}`,
      ].join('\n'),
    );
    const loopback = ['--listen', '127.0.0.1:0', '--capability-file', capabilityFile];
    const places = ['--token-file', tokenFile, '--socket', socket, ...loopback];
    agent = await start(['agent', '--config', config, ...places], clock.environment);
  });
  afterAll(async () => {
    await agent.stop();
    await Promise.all([plane.stop(), host.stop()]);
    await clock.close();
    folder.remove();
  });

  it.each([
    ['flytekit', 'the token file', () => ['cat', tokenFile]],
    [
      'flytekit',
      'the socket',
      () => ['curl', '-sS', '--unix-socket', socket, 'http://localhost/access-token'],
    ],
  ] as const)(
    '%s with an ExternalCommand that reads %s lives for an hour of moved clock: every call is admitted, in one process',
    async (client, _place, command) => {
      const workstation = createWorkstation(host, plane);
      await plane.tokenRequests();
      const before = readFileSync(tokenFile, 'utf8');
      workstation.configure({
        authType: 'ExternalCommand',
        command: JSON.stringify(command()),
      });
      const running = workstation.start(client);
      for (let step = 0; step < STEPS; step += 1) {
        expect(await running.call()).toEqual({ subject: 'sallyport-service', name: '' });
        await clock.advance(STEP_MS);
        // An hour does not pass in the middle of a request elsewhere: the next step would end its time limit.
        await expect
          .poll(() => readRemainingMs(tokenFile, clock))
          .toBeGreaterThan(REFRESH_WINDOW_MS);
      }
      await running.finish();
      const requests = await plane.tokenRequests();
      // The agent's alone, and the client has seen a token end.
      expect(new Set(requests)).toEqual(new Set([SERVICE_GRANT]));
      expect(readFileSync(tokenFile, 'utf8')).not.toBe(before);
      workstation.remove();
    },
  );

  it('a gRPC call without TLS and without a token reaches a platform behind TLS as the service, with the capability alone', async () => {
    const [origin = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(agent.stdout()) ?? [];
    const method = `${origin}/flyteidl.service.IdentityService/UserInfo`;
    const [name = '', value = ''] = readFileSync(capabilityFile, 'utf8').trimEnd().split(': ');
    const { status, message, messages } = await callGrpc(method, { headers: { [name]: value } });
    expect([status, message]).toEqual([0, '']);
    expect(Buffer.concat(messages).toString()).toContain('sallyport-service');
    expect((await callGrpc(method)).status).toBe(16);
  });

  it('flytekit with a copy of the token is refused once the hour is over: the token does end', async () => {
    const workstation = createWorkstation(host, plane);
    const copy = workstation.write('copy', readFileSync(tokenFile, 'utf8'));
    workstation.configure({ authType: 'ExternalCommand', command: JSON.stringify(['cat', copy]) });
    const running = workstation.start('flytekit');
    expect(await running.call()).toMatchObject({ subject: 'sallyport-service' });
    await clock.advance(STEPS * STEP_MS);
    expect(await running.call()).toHaveProperty('error');
    await running.finish();
    workstation.remove();
  });
});

/** How long the token of a file lives on; 0 while there is no such file. */
function readRemainingMs(file: string, clock: MovedClock): number {
  if (!existsSync(file)) return 0;
  const [, claims = ''] = readFileSync(file, 'utf8').split('.');
  const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { exp: number };
  return exp * 1_000 - clock.now();
}
