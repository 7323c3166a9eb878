import type { Schedule, WaitedFor } from '@sallyport/server';
import { describe, expect, it } from 'vitest';
import { warmUp } from './warm-up.ts';

function begin() {
  const state = {
    waitingFor: ['identity_provider'] as readonly WaitedFor[],
    knowledge: { identity_provider: false, key_ring: true, 'keys https://other': false },
  };
  const unwanted = new AbortController();
  let outcome: unknown;
  let next: (() => void) | undefined;
  const schedule: Schedule = (afterMs, callback) => {
    expect(afterMs).toBe(50);
    next = callback;
    return () => {};
  };
  const warmedUp = warmUp(
    {
      waitingFor: async () => state.waitingFor,
      knowledge: () => new Map(Object.entries(state.knowledge)),
    },
    30_000,
    { schedule, signal: unwanted.signal },
  );
  const note = (value: unknown) => {
    outcome = value ?? 'warmedUp';
  };
  void warmedUp.then(note, note);
  return {
    state,
    unwanted,
    /** Lets time pass, 50 ms at a time; returns what came of it. */
    async pass(ms: number) {
      for (let passed = 0; passed <= ms; passed += 50) {
        await new Promise(setImmediate);
        if (passed < ms) next?.();
      }
      return outcome;
    },
  };
}

describe('A worker that takes the place of another', () => {
  it('listens once it is ready and has the metadata and keys of all identity providers', async () => {
    const { state, pass } = begin();
    expect(await pass(2_000)).toBeUndefined();
    state.waitingFor = [];
    state.knowledge = { identity_provider: true, key_ring: true, 'keys https://other': true };
    expect(await pass(100)).toBe('warmedUp');
  });

  it('waits five seconds for the keys of a further issuer, and no longer', async () => {
    const { state, pass } = begin();
    state.waitingFor = [];
    state.knowledge.identity_provider = true;
    expect(await pass(4_900)).toBeUndefined();
    expect(await pass(200)).toBe('warmedUp');
  });

  it('waits for the keys of the cookies as long as it may: without them each cookie is undecided', async () => {
    const { state, pass } = begin();
    state.waitingFor = ['key_ring'];
    state.knowledge = { identity_provider: true, key_ring: false, 'keys https://other': true };
    expect(await pass(20_000)).toBeUndefined();
    state.waitingFor = [];
    state.knowledge.key_ring = true;
    expect(await pass(100)).toBe('warmedUp');
  });

  it('gives up without them after its time, and says so', async () => {
    const { state, pass } = begin();
    state.waitingFor = ['identity_provider', 'key_ring'];
    expect(await pass(30_100)).toMatchObject({
      code: 'SP_NOT_READY',
      message: expect.stringContaining('still waits for identity_provider and key_ring'),
    });
  });

  it('gives up after its time, and says what it waits for', async () => {
    const { state, pass } = begin();
    state.waitingFor = ['identity_provider', 'session_store'];
    expect(await pass(29_900)).toBeUndefined();
    expect(await pass(200)).toMatchObject({
      code: 'SP_NOT_READY',
      message:
        'SP_NOT_READY (serve): not ready within 30 s: still waits for identity_provider and session_store',
    });
  });

  it('gives up when it is not wanted any more', async () => {
    const { unwanted, pass } = begin();
    unwanted.abort();
    expect(await pass(100)).toMatchObject({ code: 'SP_NOT_READY' });
  });
});
