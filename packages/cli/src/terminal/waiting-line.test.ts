import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startWaiting } from './waiting-line.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function output(isTTY: boolean, columns = 80) {
  let text = '';
  return {
    isTTY,
    columns,
    write(more: string) {
      text += more;
    },
    text: () => text,
  };
}

describe('Waiting', () => {
  it('elsewhere than on a terminal it is plain lines, each once, without an escape', () => {
    const to = output(false);
    const line = startWaiting(to, 'waiting');
    line.say(['one', 'two']);
    vi.advanceTimersByTime(10_000);
    line.update('nearly');
    line.end();
    expect(to.text()).toBe('waiting\none\ntwo\nnearly\n');
  });

  it('on a terminal what is said above it is broken between words, and an address is not', () => {
    const to = output(true, 12);
    const line = startWaiting(to, 'waiting');
    line.say(['one two three', '  https://idp.example/long']);
    line.end();
    expect(to.text()).toContain('one two\nthree\n  https://idp.example/long\n');
  });

  it('on a terminal it moves, is cut to the width, and is gone at the end with the cursor back', () => {
    const to = output(true, 20);
    const line = startWaiting(to, 'waiting for something that takes long');
    vi.advanceTimersByTime(500);
    expect(to.text()).toContain('waiting for somet');
    expect(to.text()).not.toContain('something');
    line.end();
    const ended = to.text();
    expect(ended.endsWith('\r\u001b[2K\u001b[?25h')).toBe(true);
    vi.advanceTimersByTime(500);
    line.end();
    line.update('more');
    expect(to.text()).toBe(ended);
  });
});
