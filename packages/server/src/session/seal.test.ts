import { createRingKey, openRing, RingInMemory } from '@sallyport/testing/server/ring';
import { Clock } from '@sallyport/testing/time/clock';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KeyPurpose, KeyRing } from './key-ring.ts';
import { open, openText, type SealContext, seal, sealText } from './seal.ts';

const RUNS = process.env['CI'] === undefined ? 300 : 3_000;
const CONTEXT: SealContext = { purpose: 'session-metadata', binding: '7/1' };
const PURPOSES: readonly KeyPurpose[] = [
  'session-metadata',
  'session-tokens',
  'login-attempt',
  'state',
  'sign-out-state',
];

function setup(): { ring: KeyRing; source: RingInMemory; clock: Clock } {
  const clock = new Clock();
  const source = new RingInMemory([
    createRingKey('a'),
    createRingKey('b', { sealsFrom: clock.now() + 1 }),
  ]);
  return { ring: openRing(source, clock).ring, source, clock };
}

describe('seal and open', () => {
  it('opens what was sealed, for any text, binding, purpose and secret', () => {
    const { ring } = setup();
    const secret = fc.option(fc.uint8Array({ minLength: 1, maxLength: 64 }), { nil: undefined });
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.string(),
        fc.constantFrom(...PURPOSES),
        secret,
        (plain, binding, purpose, further) => {
          const context = {
            purpose,
            binding,
            ...(further === undefined ? {} : { secret: further }),
          };
          expect(open(ring, context, seal(ring, context, plain))).toBe(plain);
          expect(openText(ring, context, sealText(ring, context, plain))).toBe(plain);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it('gives different bytes for the same text each time', () => {
    const { ring } = setup();
    const sealed = Array.from({ length: 100 }, () => sealText(ring, CONTEXT, 'same'));
    expect(new Set(sealed).size).toBe(100);
  });

  it('shows nothing of the text', () => {
    const { ring } = setup();
    expect(seal(ring, CONTEXT, 'canary-7f3a').includes('canary')).toBe(false);
  });

  it('does not open with any one bit changed', () => {
    const { ring } = setup();
    const sealed = seal(ring, CONTEXT, '{"v":1}');
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(open(ring, CONTEXT, changed), `bit ${bit}`).toBeUndefined();
    }
    expect(open(ring, CONTEXT, sealed)).toBe('{"v":1}');
  });

  it('does not open truncated or lengthened, at either end', () => {
    const { ring } = setup();
    const sealed = seal(ring, CONTEXT, '{"v":1}');
    for (let length = 0; length < sealed.length; length += 1) {
      expect(open(ring, CONTEXT, sealed.subarray(0, length)), `first ${length}`).toBeUndefined();
      expect(
        open(ring, CONTEXT, sealed.subarray(sealed.length - length)),
        `last ${length}`,
      ).toBeUndefined();
    }
    expect(open(ring, CONTEXT, Buffer.concat([sealed, Buffer.of(0)]))).toBeUndefined();
    expect(open(ring, CONTEXT, Buffer.concat([Buffer.of(1), sealed]))).toBeUndefined();
  });

  it('does not open when spliced from two sealed under the same context', () => {
    const { ring } = setup();
    const one = seal(ring, CONTEXT, 'the text of one');
    const two = seal(ring, CONTEXT, 'the text of two');
    // Version and key id are the same, so the splice is a whole one up to there.
    for (let cut = 8; cut < one.length; cut += 1) {
      const spliced = Buffer.concat([one.subarray(0, cut), two.subarray(cut)]);
      if (spliced.equals(one) || spliced.equals(two)) continue;
      expect(open(ring, CONTEXT, spliced), `cut at ${cut}`).toBeUndefined();
    }
  });

  it.each(PURPOSES.filter((purpose) => purpose !== CONTEXT.purpose))(
    'does not open for the purpose %s',
    (purpose) => {
      const { ring } = setup();
      expect(open(ring, { ...CONTEXT, purpose }, seal(ring, CONTEXT, 'x'))).toBeUndefined();
    },
  );

  it('does not open in another place, also where the parts of two places join to the same text', () => {
    const { ring } = setup();
    fc.assert(
      fc.property(fc.string(), fc.string(), (sealedFor, openedFor) => {
        fc.pre(sealedFor !== openedFor);
        const sealed = seal(ring, { ...CONTEXT, binding: sealedFor }, 'x');
        expect(open(ring, { ...CONTEXT, binding: openedFor }, sealed)).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
    expect(open(ring, { ...CONTEXT, binding: '71/' }, seal(ring, CONTEXT, 'x'))).toBeUndefined();
  });

  it('does not open without the secret, with another, or with one where none was', () => {
    const { ring } = setup();
    const secret = Buffer.alloc(32, 1);
    const sealed = seal(ring, { ...CONTEXT, secret }, 'x');
    expect(open(ring, { ...CONTEXT, secret: Buffer.from(secret) }, sealed)).toBe('x');
    expect(open(ring, CONTEXT, sealed)).toBeUndefined();
    expect(open(ring, { ...CONTEXT, secret: Buffer.alloc(32, 2) }, sealed)).toBeUndefined();
    expect(open(ring, { ...CONTEXT, secret: secret.subarray(1) }, sealed)).toBeUndefined();
    expect(open(ring, { ...CONTEXT, secret }, seal(ring, CONTEXT, 'x'))).toBeUndefined();
  });

  it('does not open under another key, even one of the same id', () => {
    const { ring, clock } = setup();
    const sealed = seal(ring, CONTEXT, 'x');
    const other = createRingKey('a', { key: Buffer.alloc(32, 'z').toString('base64url') });
    expect(open(openRing(new RingInMemory([other]), clock).ring, CONTEXT, sealed)).toBeUndefined();
    const elsewhere = openRing(new RingInMemory([createRingKey('c')]), clock).ring;
    expect(open(elsewhere, CONTEXT, sealed)).toBeUndefined();
  });

  it('does not open with the key id of another key of the ring put in front', () => {
    const { ring } = setup();
    const sealed = seal(ring, CONTEXT, 'x');
    Buffer.from('bbbbbbbb', 'base64url').copy(sealed, 1);
    expect(open(ring, CONTEXT, sealed)).toBeUndefined();
  });

  it('gives no text and no exception for any bytes', () => {
    const { ring } = setup();
    const head = Buffer.concat([Buffer.of(1), Buffer.from('aaaaaaaa', 'base64url')]);
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 80 }),
      fc.uint8Array({ maxLength: 80 }).map((tail) => Buffer.concat([head, tail])),
    );
    fc.assert(
      fc.property(bytes, (sealed) => {
        expect(open(ring, CONTEXT, sealed)).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
  });

  it('reads only its own bytes of a larger buffer', () => {
    const { ring } = setup();
    const sealed = seal(ring, CONTEXT, 'x');
    const larger = Buffer.concat([Buffer.alloc(5, 9), sealed, Buffer.alloc(5, 9)]);
    expect(
      open(ring, CONTEXT, new Uint8Array(larger.buffer, larger.byteOffset + 5, sealed.length)),
    ).toBe('x');
  });
});

describe('openText', () => {
  it('opens the one spelling alone: no padding, no other alphabet, no loose last bits', () => {
    const { ring } = setup();
    // 35 bytes of frame and 2 of text: the last character has bits to spare.
    let text = sealText(ring, CONTEXT, 'xy');
    while (!/[-_]/.test(text)) text = sealText(ring, CONTEXT, 'xy');
    expect(openText(ring, CONTEXT, text)).toBe('xy');
    const bytes = Buffer.from(text, 'base64url');
    const others = [
      `${text}=`,
      `${text} `,
      ` ${text}`,
      `${text.slice(0, 9)}\n${text.slice(9)}`,
      bytes.toString('base64'),
      text.replaceAll('-', '+').replaceAll('_', '/'),
      ...looseSpellings(text),
    ];
    for (const other of others) {
      expect(Buffer.from(other, 'base64url').equals(bytes), other).toBe(true);
      expect(openText(ring, CONTEXT, other), other).toBeUndefined();
    }
  });

  it.each(['', 'x', '=', 'é', '\u0000', 'AQ', '{}'])('gives nothing for %j', (text) => {
    expect(openText(setup().ring, CONTEXT, text)).toBeUndefined();
  });
});

describe('a ring without a key', () => {
  it('cannot seal: SP_KEY_RING_UNUSABLE', () => {
    const source = new RingInMemory();
    source.failure = new Error('unreadable');
    const { ring } = openRing(source, new Clock());
    expect(() => seal(ring, CONTEXT, 'x')).toThrow(
      expect.objectContaining({ code: 'SP_KEY_RING_UNUSABLE' }),
    );
  });

  it('cannot decide whether something would open: SP_KEY_RING_UNUSABLE and not "no"', () => {
    const { ring: good, source, clock } = setup();
    const sealed = seal(good, CONTEXT, 'x');
    source.failure = new Error('unreadable');
    const { ring } = openRing(source, clock);
    expect(() => open(ring, CONTEXT, sealed)).toThrow(
      expect.objectContaining({ code: 'SP_KEY_RING_UNUSABLE' }),
    );
    source.failure = undefined;
    clock.advance(1_000);
    expect(open(ring, CONTEXT, sealed)).toBe('x');
  });
});

/** Other last characters that decode to the same bytes. */
function looseSpellings(text: string): string[] {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const bytes = Buffer.from(text, 'base64url');
  return Array.from(alphabet, (last) => text.slice(0, -1) + last).filter(
    (other) => other !== text && Buffer.from(other, 'base64url').equals(bytes),
  );
}
