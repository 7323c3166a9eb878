import { describe, expect, it } from 'vitest';
import { parsePlatformEndpoint } from './platform-endpoint.ts';

describe('Where tokens may go', () => {
  it.each([
    'https://flow.example',
    'https://flow.example:8443/',
    'http://localhost:30080',
    'http://127.0.0.1:1',
    'http://127.9.9.9',
    'http://[::1]:8080',
    'http://flow.localhost',
  ])('%s', (endpoint) => {
    expect(parsePlatformEndpoint({ endpoint }).origin).toBe(new URL(endpoint).origin);
  });

  it.each([
    'http://flow.example',
    'http://127.0.0.1.example',
    'http://localhost.example',
    'http://[::2]',
    'https://user@flow.example',
    'ftp://flow.example',
    'flow.example:443',
    '',
  ])('never %j', (endpoint) => {
    expect(() => parsePlatformEndpoint({ endpoint })).toThrow('SP_CONFIG_INVALID');
  });

  it('plain http beyond the loopback only when it is allowed by name', () => {
    const endpoint = 'http://flow.example';
    expect(parsePlatformEndpoint({ endpoint, dangerouslyAllowPlainHttp: true }).origin).toBe(
      endpoint,
    );
  });
});
