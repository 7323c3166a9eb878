import { createRingKey, openRing, RingInMemory } from '@sallyport/testing/server/ring';
import { Clock, NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it } from 'vitest';
import type { RingKey } from './key-ring.ts';

const UNUSABLE: unknown = expect.objectContaining({
  code: 'SP_KEY_RING_UNUSABLE',
  component: 'key-ring',
});

function setup(...keys: RingKey[]) {
  const clock = new Clock();
  const source = new RingInMemory(keys.length === 0 ? [createRingKey('a')] : keys);
  return { clock, source, ...openRing(source, clock) };
}

describe('sealing', () => {
  it('seals with the youngest key whose time has come, from that millisecond on', () => {
    const { ring, clock } = setup(
      createRingKey('b', { sealsFrom: NOON + 600_000 }),
      createRingKey('a'),
      createRingKey('c', { sealsFrom: NOON - 500 }),
    );
    expect(ring.sealingKey('state').kid).toBe('cccccccc');
    clock.set(NOON + 599_999);
    expect(ring.sealingKey('state').kid).toBe('cccccccc');
    clock.set(NOON + 600_000);
    expect(ring.sealingKey('state').kid).toBe('bbbbbbbb');
  });

  it('never seals with a key that no longer opens', () => {
    const { ring, clock } = setup(
      createRingKey('a'),
      createRingKey('b', { sealsFrom: NOON, opensUntil: NOON + 5_000 }),
    );
    expect(ring.sealingKey('state').kid).toBe('bbbbbbbb');
    clock.set(NOON + 5_000);
    expect(ring.sealingKey('state').kid).toBe('aaaaaaaa');
  });

  it('throws SP_KEY_RING_UNUSABLE while no key may seal, though some may open', () => {
    const { ring, clock } = setup(createRingKey('a', { sealsFrom: NOON + 1 }));
    expect(() => ring.sealingKey('state')).toThrow(UNUSABLE);
    expect(ring.openingKey('aaaaaaaa', 'state')).toBeDefined();
    clock.advance(1);
    expect(ring.sealingKey('state').kid).toBe('aaaaaaaa');
  });

  it('derives another key for each purpose, never the one in the file', () => {
    const { ring } = setup();
    const purposes = [
      'session-metadata',
      'session-tokens',
      'login-attempt',
      'state',
      'sign-out-state',
    ] as const;
    const keys = purposes.map((purpose) =>
      ring.sealingKey(purpose).key.export().toString('base64url'),
    );
    expect(new Set([...keys, createRingKey('a').key]).size).toBe(purposes.length + 1);
    for (const [index, purpose] of purposes.entries())
      expect(ring.openingKey('aaaaaaaa', purpose)?.export().toString('base64url')).toBe(
        keys[index],
      );
  });
});

describe('opening', () => {
  it('opens until the last millisecond before opensUntil and not from it on', () => {
    const { ring, clock } = setup(
      createRingKey('a'),
      createRingKey('b', { opensUntil: NOON + 60_000 }),
    );
    clock.set(NOON + 59_999);
    expect(ring.openingKey('bbbbbbbb', 'state')).toBeDefined();
    clock.set(NOON + 60_000);
    expect(ring.openingKey('bbbbbbbb', 'state')).toBeUndefined();
    expect(ring.openingKey('aaaaaaaa', 'state')).toBeDefined();
  });

  it('reports within a second that the time of a key is over, once, although the source has not changed', () => {
    const { ring, clock, reported } = setup(
      createRingKey('a'),
      createRingKey('b', { opensUntil: NOON + 60_000 }),
    );
    ring.poll();
    expect(reported.changes).toBe(1);
    clock.set(NOON + 59_500);
    ring.poll();
    expect(reported.changes).toBe(1);
    clock.set(NOON + 60_500);
    ring.poll();
    expect(reported.changes).toBe(2);
    clock.set(NOON + 62_000);
    ring.poll();
    expect(reported.changes).toBe(2);
  });

  it('reports once a source that changes at the moment at which a key ends', () => {
    const ending = createRingKey('b', { opensUntil: NOON + 1_000 });
    const { ring, clock, source, reported } = setup(createRingKey('a'), ending);
    ring.poll();
    source.replace([createRingKey('a'), createRingKey('c'), ending]);
    clock.set(NOON + 2_000);
    ring.poll();
    expect(reported.changes).toBe(2);
  });

  it('opens with a key that does not seal yet', () => {
    const { ring } = setup(createRingKey('a'), createRingKey('b', { sealsFrom: NOON + 600_000 }));
    expect(ring.openingKey('bbbbbbbb', 'state')).toBeDefined();
  });

  it.each(['', 'aaaaaaa', 'aaaaaaaaa', 'aaaaaaa=', 'aaaa aaa', '__proto__', 'AAAAAAAA'])(
    'knows no key %j',
    (kid) => {
      expect(setup().ring.openingKey(kid, 'state')).toBeUndefined();
    },
  );
});

describe('following the source', () => {
  it('looks at the source at most once a second, and reads it only when its version changed', () => {
    const { ring, source, clock } = setup();
    for (let ms = 0; ms < 10_000; ms += 1) {
      ring.poll();
      clock.advance(1);
    }
    expect(source.reads).toBe(1);
    expect(source.looks).toBe(9);
  });

  it('reports each change once, the first reading included', () => {
    const { ring, source, clock, reported } = setup();
    ring.poll();
    expect(reported.changes).toBe(1);
    clock.advance(1_000);
    ring.poll();
    expect(reported.changes).toBe(1);
    source.replace([createRingKey('a'), createRingKey('b')]);
    clock.advance(999);
    ring.poll();
    expect(reported.changes).toBe(1);
    clock.advance(1);
    ring.poll();
    expect(reported.changes).toBe(2);
    expect(reported.problems).toEqual([]);
  });

  it('refuses at once, when it has looked, what a removed key sealed', () => {
    const { ring, source, clock } = setup(createRingKey('a'), createRingKey('b'));
    expect(ring.openingKey('bbbbbbbb', 'state')).toBeDefined();
    source.replace([createRingKey('a')]);
    clock.advance(1_000);
    expect(ring.openingKey('bbbbbbbb', 'state')).toBeUndefined();
    expect(ring.openingKey('aaaaaaaa', 'state')).toBeDefined();
  });

  it('uses the new key when an id is given other bytes', () => {
    const { ring, source, clock } = setup();
    const before = ring.openingKey('aaaaaaaa', 'state')?.export().toString('base64url');
    source.replace([createRingKey('a', { key: createRingKey('z').key })]);
    clock.advance(1_000);
    const after = ring.openingKey('aaaaaaaa', 'state')?.export().toString('base64url');
    expect(after).toBeDefined();
    expect(after).not.toBe(before);
  });

  it('reads again at once for a key id it does not know', () => {
    const { ring, source } = setup();
    ring.poll();
    source.replace([createRingKey('a'), createRingKey('b')]);
    expect(ring.openingKey('bbbbbbbb', 'state')).toBeDefined();
  });

  it('lets forged key ids cause at most one reading in five seconds', () => {
    const { ring, source, clock } = setup();
    ring.poll();
    const before = source.reads;
    for (let ms = 0; ms < 20_000; ms += 10) {
      ring.openingKey(String(10_000_000 + ms), 'state');
      clock.advance(10);
    }
    expect(source.reads - before).toBe(4);
  });

  it('reads nothing for what cannot be a key id', () => {
    const { ring, source } = setup();
    ring.poll();
    ring.openingKey('not-a-kid!', 'state');
    expect(source.reads).toBe(1);
  });

  it('goes on looking when the clock was set back', () => {
    const { ring, source, clock } = setup();
    ring.poll();
    clock.advance(-3_600_000);
    source.replace([createRingKey('a'), createRingKey('b')]);
    ring.poll();
    clock.advance(1_000);
    ring.poll();
    expect(source.reads).toBe(2);
    expect(ring.openingKey('bbbbbbbb', 'state')).toBeDefined();
  });
});

describe('an unreadable source', () => {
  it('leaves the last good ring in use, and is reported', () => {
    const { ring, source, clock, reported } = setup();
    ring.poll();
    source.failure = new Error('gone');
    clock.advance(1_000);
    expect(ring.sealingKey('state').kid).toBe('aaaaaaaa');
    expect(ring.openingKey('aaaaaaaa', 'state')).toBeDefined();
    expect(reported.problems).toEqual([source.failure]);
    expect(reported.changes).toBe(1);
  });

  it('is read again once it is mended', () => {
    const { ring, source, clock } = setup();
    ring.poll();
    source.failure = new Error('gone');
    clock.advance(1_000);
    ring.poll();
    source.failure = undefined;
    source.replace([createRingKey('b')]);
    clock.advance(1_000);
    expect(ring.sealingKey('state').kid).toBe('bbbbbbbb');
  });

  it('that was never read throws SP_KEY_RING_UNUSABLE for sealing and opening, but not for looking', () => {
    const { ring, source, clock, reported } = setup();
    source.failure = new Error('gone');
    expect(() => ring.poll()).not.toThrow();
    expect(() => ring.sealingKey('state')).toThrow(UNUSABLE);
    expect(() => ring.openingKey('aaaaaaaa', 'state')).toThrow(UNUSABLE);
    expect(reported.changes).toBe(0);
    expect(reported.problems.length).toBeGreaterThan(0);
    source.failure = undefined;
    clock.advance(1_000);
    expect(ring.sealingKey('state').kid).toBe('aaaaaaaa');
    expect(ring.openingKey('bbbbbbbb', 'state')).toBeUndefined();
  });

  it('that was never read is not known, and is once it was, looked at once a second; it stays so', () => {
    const { ring, source, clock } = setup();
    source.failure = new Error('gone');
    expect(ring.isKnown()).toBe(false);
    source.failure = undefined;
    clock.advance(999);
    expect(ring.isKnown()).toBe(false);
    clock.advance(1);
    expect(ring.isKnown()).toBe(true);
    source.failure = new Error('gone again');
    clock.advance(1_000);
    expect(ring.isKnown()).toBe(true);
  });

  it('shows nothing of itself in the failure', () => {
    const { ring, source } = setup();
    source.failure = new Error('canary-7f3a');
    expect(() => ring.sealingKey('state')).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('canary') }),
    );
  });
});
