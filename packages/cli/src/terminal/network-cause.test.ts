import { createServer } from 'node:http';
import { listenOnFreePort } from '@sallyport/testing/wire/listen';
import { describe, expect, it } from 'vitest';
import { findNetworkCause } from './network-cause.ts';

const coded = (code: string): Error => Object.assign(new Error('canary'), { code });
const under = (cause: unknown): Error => new TypeError('fetch failed', { cause });

describe('Why a server could not be reached', () => {
  it.each([
    ['ENOTFOUND', 'no such name'],
    ['ECONNREFUSED', 'nothing listens'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'not trusted'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'another name'],
    ['ETIMEDOUT', 'in time'],
    ['ERR_PROXY_TUNNEL', 'no tunnel'],
  ])('%s underneath a failure is reported in words: %s', (code, words) => {
    expect(findNetworkCause(under(under(coded(code))))?.why).toContain(words);
  });

  it('an untrusted certificate leads to --ca-file', () => {
    expect(findNetworkCause(coded('SELF_SIGNED_CERT_IN_CHAIN'))?.hint).toContain('--ca-file');
  });

  it('an exchange that ran out of time is reported as such', () => {
    const failure = Object.assign(new Error('exchange failed'), { reason: 'timed_out' });
    expect(findNetworkCause(under(failure))?.why).toContain('in time');
    const limit = new DOMException('canary', 'TimeoutError');
    expect(findNetworkCause(under(limit))?.why).toContain('in time');
  });

  it.each([
    [undefined],
    ['text'],
    [under(undefined)],
    [coded('EXTRAORDINARY')],
    [coded('toString')],
  ])('nothing is made up for %s', (failure) => {
    expect(findNetworkCause(failure)).toBeUndefined();
  });

  it('a cause that is its own cause comes to an end', () => {
    const failure = new Error('loop');
    failure.cause = failure;
    expect(findNetworkCause(failure)).toBeUndefined();
  });

  it('what the real HTTP client throws is recognised: no listener, and no TLS', async () => {
    const server = createServer();
    const port = await listenOnFreePort(server);
    const thrown = (url: string): Promise<unknown> =>
      fetch(url).then(
        () => '',
        (error) => error,
      );
    expect(findNetworkCause(await thrown(`https://127.0.0.1:${port}`))?.why).toContain('TLS');
    await new Promise<void>((resolve) => server.close(() => resolve()));
    expect(findNetworkCause(await thrown(`http://127.0.0.1:${port}`))?.why).toContain('listens');
  });
});
