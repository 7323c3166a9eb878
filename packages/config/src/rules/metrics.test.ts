import { describe, expect, it } from 'vitest';
import { loadConfig } from '../load-config.ts';

const ENV = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_BASE_URL: 'https://idp.example.com',
  OIDC_CLIENT_ID: 'web',
  CLI_CLIENT_ID: 'native',
};

function problemsOf(text: string): readonly string[] {
  const loaded = loadConfig({ file: { path: 'core.yaml', text }, env: ENV, flags: {} }, 'serve');
  return loaded.ok ? [] : loaded.error.map(({ key, line, found }) => `${key}:${line} ${found}`);
}

describe('observe.metrics', () => {
  it('serves nothing unless a port is named, and then on the loopback', () => {
    const loaded = loadConfig({ env: ENV, flags: {} }, 'serve');
    expect(loaded.ok && loaded.value.config.observe.metrics).toEqual({
      host: '127.0.0.1',
      port: 0,
    });
  });

  it('is refused on the port that serves requests, whatever the host', () => {
    expect(
      problemsOf('listen: {port: 9000}\nobserve:\n  metrics: {host: "::", port: 9000}\n'),
    ).toEqual(['observe.metrics.port:3 9000']);
  });

  it('is taken on another port, and both may be left to 0', () => {
    expect(problemsOf('listen: {port: 9000}\nobserve: {metrics: {port: 9001}}\n')).toEqual([]);
    expect(problemsOf('listen: {port: 0}\nobserve: {metrics: {port: 0}}\n')).toEqual([]);
  });
});
