import { describe, expect, it } from 'vitest';
import { inspectApiKey } from './apikey-inspect.ts';

const KEY = Buffer.from('platform.example.com:service:canary-secret:acme').toString('base64');

/** Inspects what stands on stdin, in these pieces. */
async function inspect(...pieces: readonly (string | Buffer)[]) {
  const out: string[] = [];
  const error: string[] = [];
  async function* stdin() {
    yield* pieces;
  }
  const code = await inspectApiKey({ json: true }, stdin(), {
    out: (line) => out.push(line),
    error: (line) => error.push(line),
    cleanse: (text) => text,
    conceal: () => {},
    isTerminal: false,
    isInteractive: false,
  });
  return { code, answer: JSON.parse(out.join('')) as object, all: [...out, ...error].join('\n') };
}

describe('apikey inspect on stdin', () => {
  it.each([
    ['in one piece', [KEY]],
    ['in many pieces', KEY.split('')],
    ['as bytes', [Buffer.from(KEY)]],
    ['with a line feed at its end', [KEY, '\n']],
    ['with a carriage return too', [`${KEY}\r\n`]],
  ])('reads a key %s', async (_, pieces) => {
    const { code, answer, all } = await inspect(...pieces);
    expect([code, answer]).toEqual([
      0,
      { ok: true, endpoint: 'platform.example.com', clientId: 'service', organization: 'acme' },
    ]);
    expect(all).not.toContain('canary');
  });

  it.each([
    ['nothing', [], 'not_base64'],
    ['two lines', [KEY, '\n\n'], 'not_base64'],
    ['a blank before it', [' ', KEY], 'not_base64'],
    ['a key that is cut short', [KEY.slice(0, 40)], 'not_four_fields'],
    ['more than 16 KiB', ['A'.repeat(16_000), 'A'.repeat(1_000)], 'key_unreadable'],
    ['text without an end', ['A'.repeat(10_000)], 'too_long'],
  ])('refuses %s, and shows none of it', async (_, pieces, error) => {
    const { code, answer, all } = await inspect(...pieces);
    expect([code, answer]).toEqual([1, expect.objectContaining({ ok: false, error })]);
    expect(all).not.toContain(KEY.slice(0, 8));
    expect(all).not.toContain('AAAA');
  });
});
