import { SallyportError } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import { type ListenKeys, type ListenPlace, listenFailure } from './listen-failure.ts';

const KEYS = { host: 'observe.metrics.host', port: 'observe.metrics.port' };

function said(code: string, place: ListenPlace, keys?: ListenKeys) {
  const cause = Object.assign(new Error(code), { code });
  const failure = listenFailure(cause, place, keys);
  if (!(failure instanceof SallyportError)) throw new Error('not translated');
  expect(failure.cause).toBe(cause);
  return failure.message;
}

describe('listenFailure', () => {
  it.each<readonly [string, string, number, string]>([
    [
      'EADDRINUSE',
      '127.0.0.1',
      9_464,
      'SP_PORT_IN_USE (127.0.0.1:9464): observe.metrics.port: port 9464 is taken by another program; stop it, or choose another one',
    ],
    [
      'EADDRNOTAVAIL',
      '203.0.113.7',
      9_464,
      'SP_LISTEN_FAILED (203.0.113.7:9464): observe.metrics.host: this machine has no address 203.0.113.7; use 127.0.0.1, or 0.0.0.0 for every address',
    ],
    [
      'EAFNOSUPPORT',
      '::',
      9_464,
      'SP_LISTEN_FAILED ([::]:9464): observe.metrics.host: this machine has no address ::; use 127.0.0.1, or 0.0.0.0 for every address',
    ],
    [
      'ENOTFOUND',
      'nowhere.invalid',
      9_464,
      'SP_LISTEN_FAILED (nowhere.invalid:9464): observe.metrics.host: no address is known for the name nowhere.invalid; use 127.0.0.1, or 0.0.0.0 for every address',
    ],
    [
      'EACCES',
      '127.0.0.1',
      80,
      'SP_LISTEN_FAILED (127.0.0.1:80): observe.metrics.port: this user may not listen on port 80; choose one above 1023',
    ],
    [
      'EACCES',
      '127.0.0.1',
      8_080,
      'SP_LISTEN_FAILED (127.0.0.1:8080): observe.metrics.port: this user may not listen on port 8080; choose another one, or allow it',
    ],
    [
      'EMFILE',
      '127.0.0.1',
      8_080,
      'SP_LISTEN_FAILED (127.0.0.1:8080): observe.metrics.port: cannot be listened on: the system says EMFILE',
    ],
  ])(
    'says of %s on %s, port %i, which key is to be corrected and how',
    (code, host, port, text) => {
      expect(said(code, { host, port }, KEYS)).toBe(text);
    },
  );

  it('names no key where there is none', () => {
    expect(said('EACCES', { host: '127.0.0.1', port: 80 })).toBe(
      'SP_LISTEN_FAILED (127.0.0.1:80): this user may not listen on port 80; choose one above 1023',
    );
  });

  it('leaves alone what is no failure of the system', () => {
    for (const cause of [
      new Error('x'),
      Object.assign(new RangeError('x'), { code: 'ERR_SOCKET_BAD_PORT' }),
      'text',
    ])
      expect(listenFailure(cause, { host: '127.0.0.1', port: 1 }, KEYS)).toBe(cause);
  });
});
