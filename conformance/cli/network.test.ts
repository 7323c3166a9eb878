import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Home, makeHome } from './command.ts';
import { type FakePlatform, startFakePlatform } from './fake-platform.ts';

let home: Home;
let platform: FakePlatform;
let proxy: string;
let lines: string[];
let stopProxy: () => Promise<void>;
beforeEach(async () => {
  home = makeHome();
  platform = await startFakePlatform();
  platform.pollsUntilConfirmed = 0;
  lines = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', (chunk: Buffer) => {
      lines.push(chunk.toString('latin1').split('\r\n')[0] ?? '');
      socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  proxy = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  stopProxy = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
});
afterEach(async () => {
  await stopProxy();
  await platform.close();
  home.remove();
});

describe('Proxies of the environment', () => {
  it('are used for a platform elsewhere', async () => {
    const { code } = await home.run(['token', '--endpoint', 'https://platform.example.com'], {
      HTTPS_PROXY: proxy,
    });
    expect(code).toBe(5);
    expect(lines.join()).toContain('CONNECT platform.example.com:443');
  });

  it('are used by the doctor, which looks no name up itself then', async () => {
    const args = ['doctor', 'https://platform.example.com', '--skip', 'machine'];
    const { code, stdout } = await home.run(args, { HTTPS_PROXY: proxy });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^FAIL {2}the platform https:\/\/platform\.example\.com cannot be reached through the proxy 127\.0\.0\.1:/,
    );
    expect(lines.join()).toContain('CONNECT platform.example.com:443');
  });

  it('are used by sallyport idp', async () => {
    const args = ['idp', 'plan', '--provider', 'keycloak', '--public-url', 'https://p.example.com'];
    const issuer = ['--issuer', 'https://keycloak.example.com/realms/a'];
    const { code, stderr } = await home.run([...args, ...issuer], {
      HTTPS_PROXY: proxy,
      SALLYPORT_IDP_ADMIN_PASSWORD: 'canary',
    });
    expect(stderr).toContain('does not answer: the proxy makes no tunnel to it');
    expect([code, lines]).toEqual([5, ['CONNECT keycloak.example.com:443 HTTP/1.1']]);
  });

  it('are not used for this machine', async () => {
    const login = ['login', '--endpoint', platform.url, '--flow', 'device'];
    const { code } = await home.run(login, { HTTPS_PROXY: proxy, HTTP_PROXY: proxy });
    expect([code, lines]).toEqual([0, []]);
  });
});
