import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { showSlowRequests } from './slow-requests.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A fetch whose requests are answered by the test, in their order. */
function setup({ isTTY = true, proxy = undefined as string | undefined } = {}) {
  let text = '';
  const open: PromiseWithResolvers<Response>[] = [];
  const send = (() => {
    const answer = Promise.withResolvers<Response>();
    open.push(answer);
    return answer.promise;
  }) as typeof fetch;
  const write = (more: string): void => {
    text += more;
  };
  const shown = showSlowRequests(send, {
    output: { isTTY, columns: 100, write },
    schedule(delayMs, callback) {
      const timer = setTimeout(callback, delayMs);
      return () => clearTimeout(timer);
    },
    findProxy: () => proxy,
  });
  return { fetch: shown, open, text: () => text };
}

const SHOW_CURSOR = '\u001b[?25h';

describe('A request of a command on a terminal', () => {
  it('is named after a second without an answer, and the line is gone with the answer', async () => {
    const { fetch, open, text } = setup();
    const answered = fetch('https://idp.example/realms/a?code=canary');
    vi.advanceTimersByTime(999);
    expect(text()).toBe('');
    vi.advanceTimersByTime(1);
    expect(text()).toContain('waiting for https://idp.example');
    open[0]?.resolve(new Response('x'));
    expect((await answered).status).toBe(200);
    expect(text().endsWith(SHOW_CURSOR)).toBe(true);
    expect(text()).not.toContain('canary');
  });

  it('that is answered within a second is not named', async () => {
    const { fetch, open, text } = setup();
    const answered = fetch('https://idp.example/');
    vi.advanceTimersByTime(900);
    open[0]?.resolve(new Response('x'));
    await answered;
    vi.advanceTimersByTime(5_000);
    expect(text()).toBe('');
  });

  it('names the proxy that it goes through, without the password of that', () => {
    const { fetch, text } = setup({ proxy: 'http://user:canary@proxy.example:3128' });
    void fetch('https://idp.example/');
    vi.advanceTimersByTime(1_000);
    expect(text()).toContain(
      'waiting for https://idp.example through the proxy proxy.example:3128',
    );
    expect(text()).not.toContain('canary');
  });

  it('that fails takes its line away, and the failure stays what it is', async () => {
    const { fetch, open, text } = setup();
    const answered = fetch('https://idp.example/');
    vi.advanceTimersByTime(2_000);
    open[0]?.reject(new TypeError('fetch failed'));
    await expect(answered).rejects.toThrow('fetch failed');
    expect(text().endsWith(SHOW_CURSOR)).toBe(true);
  });

  it('of several, the first that has no answer is named', async () => {
    const { fetch, open, text } = setup();
    const first = fetch('https://one.example/');
    const second = fetch('https://two.example/');
    vi.advanceTimersByTime(1_000);
    expect(text()).not.toContain('two.example');
    open[0]?.resolve(new Response('x'));
    await first;
    expect(text()).toContain('waiting for https://two.example');
    expect(text().endsWith(SHOW_CURSOR)).toBe(false);
    open[1]?.resolve(new Response('x'));
    await second;
    expect(text().endsWith(SHOW_CURSOR)).toBe(true);
  });

  it('elsewhere than on a terminal is not named', () => {
    const { fetch, text } = setup({ isTTY: false });
    void fetch('https://idp.example/');
    vi.advanceTimersByTime(5_000);
    expect(text()).toBe('');
  });
});
