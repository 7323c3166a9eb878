import { describe, expect, it } from 'vitest';
import { createAsk, describeNoAnswer, fixNoAnswer } from './exchange.ts';

const URL_ASKED = 'https://platform.example/me';

/** What is found of a request that fails for this cause, on its way through that proxy. */
async function refusalOf(cause: Error, proxy: string | undefined) {
  const ask = createAsk(
    {
      fetch: () => Promise.reject(new TypeError('fetch failed', { cause })),
      hears: () => Promise.resolve(false),
      findProxy: () => proxy,
    },
    () => 0,
  );
  const asked = await ask(URL_ASKED);
  if (asked.ok) throw new Error('answered');
  return asked.error;
}

const withCode = (code: string): Error => Object.assign(new Error(code), { code });
const PROXY = 'http://user:canary@proxy.example:3128';

describe('A request without an answer', () => {
  it.each(['ECONNREFUSED', 'ENOTFOUND', 'ERR_PROXY_TUNNEL'])(
    'through a proxy (%s) is said to have failed there, without the password of the proxy',
    async (code) => {
      const refusal = await refusalOf(withCode(code), PROXY);
      expect(refusal).toEqual({ code, proxy: 'proxy.example:3128' });
      expect(describeNoAnswer(refusal)).toBe(
        'cannot be reached through the proxy proxy.example:3128',
      );
      expect(fixNoAnswer(refusal, 'otherwise')).toContain('HTTPS_PROXY');
    },
  );

  it.each([
    ['directly', withCode('ECONNRESET'), undefined],
    ['of a server whose certificate came through the proxy', withCode('CERT_HAS_EXPIRED'), PROXY],
  ])('%s is said to have none', async (_, cause, proxy) => {
    const refusal = await refusalOf(cause, proxy);
    expect(describeNoAnswer(refusal)).toBe('takes connections and does not answer');
    expect(fixNoAnswer(refusal, 'otherwise')).toBe('otherwise');
  });

  it('through a proxy, where the server may be what is silent, comes with both cures', async () => {
    for (const code of ['ECONNRESET', 'ETIMEDOUT'])
      expect(fixNoAnswer(await refusalOf(withCode(code), PROXY), 'Look there.')).toMatch(
        /HTTPS_PROXY.* If the proxy reached the server: Look there\.$/,
      );
    const refused = await refusalOf(withCode('ECONNREFUSED'), PROXY);
    expect(fixNoAnswer(refused, 'Look there.')).not.toContain('Look there.');
  });

  it('that was not sent in time is a time-out', async () => {
    const timeUp = new DOMException('time is up', 'TimeoutError');
    const notSent = new Error('nothing was sent', { cause: timeUp });
    expect((await refusalOf(notSent, PROXY)).code).toBe('ETIMEDOUT');
    expect((await refusalOf(timeUp, undefined)).code).toBe('ETIMEDOUT');
  });
});
