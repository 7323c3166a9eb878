import { describe, expect, it } from 'vitest';
import { readListenConfig } from './listen-config.ts';
import { formatConfigProblem } from './problems.ts';

const read = (text: string, env: Readonly<Record<string, string>> = {}) =>
  readListenConfig({ file: { path: 'serve.yaml', text }, env, flags: {} });

describe('The place where serve listens', () => {
  it('is read from a configuration that lacks everything else', () => {
    expect(read('')).toEqual({
      ok: true,
      value: { listen: { host: '127.0.0.1', port: 8080 }, server: { listen: '' } },
    });
  });

  it('is that of the environment before that of the file', () => {
    const place = read('listen: {host: "::1", port: 9090}', { SALLYPORT_LISTEN_PORT: '9091' });
    expect(place).toMatchObject({ ok: true, value: { listen: { host: '::1', port: 9091 } } });
  });

  it('is read from a file with a wrong value, an unknown key and a broken block elsewhere', () => {
    const text = 'publicUrl: 7\nunknown: 1\nsession: no mapping\nlisten: {port: 9090}\n';
    expect(read(text)).toMatchObject({ ok: true, value: { listen: { port: 9090 } } });
  });

  it.each([
    ['a wrong port', 'publicUrl: 7\nlisten: {port: 70000}', /^serve\.yaml:2: listen\.port: /],
    ['a broken block', 'listen: here', /^serve\.yaml:1: listen: /],
    ['a wrong socket', 'server: {listen: /run/x.sock}', /^serve\.yaml:1: server\.listen: /],
    ['a file that is no YAML', '{', /^serve\.yaml:1: /],
  ])('is refused with its own problem alone: %s', (_, text, line) => {
    const result = read(text);
    expect(result.ok ? [] : result.error.map(formatConfigProblem)).toEqual([
      expect.stringMatching(line),
    ]);
  });
});
