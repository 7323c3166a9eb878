import { describe, expect, it } from 'vitest';
import { Readiness } from './readiness.ts';

function parts(readiness = new Readiness()) {
  const state = {
    isIdpKnown: false,
    areIssuerKeysKnown: true,
    isStoreThere: false,
    isKeyRingKnown: true,
    asked: 0,
  };
  const { waitingFor, isReady } = readiness.watch({
    isIdpKnown: () => state.isIdpKnown,
    areIssuerKeysKnown: () => state.areIssuerKeysKnown,
    isKeyRingKnown: () => state.isKeyRingKnown,
    askStore: async () => {
      state.asked += 1;
      if (!state.isStoreThere) throw new Error('away');
    },
  });
  return { state, waitingFor, isReady };
}

describe('The parts', () => {
  it('are all named that are missing, and nothing else', async () => {
    const { state, waitingFor } = parts();
    expect(await waitingFor()).toEqual(['identity_provider', 'session_store']);
    state.isIdpKnown = true;
    expect(await waitingFor()).toEqual(['session_store']);
    state.isStoreThere = true;
    expect(await waitingFor()).toEqual([]);
  });

  it('a key ring that was never read is one of them', async () => {
    const { state, waitingFor, isReady } = parts();
    Object.assign(state, { isIdpKnown: true, isStoreThere: true, isKeyRingKnown: false });
    expect([await waitingFor(), isReady()]).toEqual([['key_ring'], false]);
    state.isKeyRingKnown = true;
    expect([await waitingFor(), isReady()]).toEqual([[], true]);
  });

  it('keys of bearer tokens that were never read are one of them', async () => {
    const { state, waitingFor, isReady } = parts();
    Object.assign(state, { isIdpKnown: true, isStoreThere: true, areIssuerKeysKnown: false });
    expect([await waitingFor(), isReady()]).toEqual([['issuer_keys'], false]);
    state.areIssuerKeysKnown = true;
    expect([await waitingFor(), isReady()]).toEqual([[], true]);
  });

  it('a store that has answered once is not asked again, and not missed when it goes away', async () => {
    const { state, waitingFor } = parts();
    state.isStoreThere = true;
    await waitingFor();
    state.isStoreThere = false;
    const { asked } = state;
    expect(await waitingFor()).toEqual(['identity_provider']);
    expect(state.asked).toBe(asked);
  });
});

describe('Parts that take the place of others', () => {
  it('do not miss a store that has answered those, and is away now', async () => {
    const readiness = new Readiness();
    const before = parts(readiness);
    before.state.isStoreThere = true;
    await before.waitingFor();
    const after = parts(readiness);
    expect(await after.waitingFor()).toEqual(['identity_provider']);
    expect(after.state.asked).toBe(0);
  });

  it('miss one that has never answered, and so do those of another process', async () => {
    const readiness = new Readiness();
    await parts(readiness).waitingFor();
    const after = parts(readiness);
    expect(await after.waitingFor()).toEqual(['identity_provider', 'session_store']);
    after.state.isStoreThere = true;
    await after.waitingFor();
    expect(await parts().waitingFor()).toEqual(['identity_provider', 'session_store']);
  });
});

describe('What is known of readiness, without waiting', () => {
  /** Lets those who were asked answer. */
  const answers = () => new Promise(setImmediate);

  it('is what /readyz would say: not ready while either part is missing, ready once both are there', async () => {
    const { state, isReady } = parts();
    state.isIdpKnown = true;
    await answers();
    expect(isReady()).toBe(false);
    await answers();
    state.isStoreThere = true;
    // The look asks; the next one knows.
    expect(isReady()).toBe(false);
    await answers();
    expect(isReady()).toBe(true);
    state.isIdpKnown = false;
    expect(isReady()).toBe(false);
  });

  it('is ready at the first look when the store has answered since the start, and stays so when it goes', async () => {
    const readiness = new Readiness();
    let asked = 0;
    const { isReady } = readiness.watch({
      isIdpKnown: () => true,
      areIssuerKeysKnown: () => true,
      isKeyRingKnown: () => true,
      askStore: async () => {
        asked += 1;
        if (asked > 1) throw new Error('away');
      },
    });
    await answers();
    expect([isReady(), isReady(), asked]).toEqual([true, true, 1]);
    readiness.drain();
    expect(isReady()).toBe(false);
  });

  it('asks a silent store no second time before it has answered', async () => {
    const answer = Promise.withResolvers<void>();
    let asked = 0;
    const { isReady } = new Readiness().watch({
      isIdpKnown: () => true,
      areIssuerKeysKnown: () => true,
      isKeyRingKnown: () => true,
      askStore() {
        asked += 1;
        return answer.promise;
      },
    });
    expect([isReady(), isReady(), asked]).toEqual([false, false, 1]);
    answer.resolve();
    await answers();
    expect([isReady(), asked]).toEqual([true, 1]);
  });
});

describe('The readiness of a process', () => {
  it('is that of the parts it follows last', async () => {
    const readiness = new Readiness();
    readiness.follow(async () => ['identity_provider']);
    expect(await readiness.waitingFor()).toEqual(['identity_provider']);
    readiness.follow(async () => []);
    expect(await readiness.waitingFor()).toEqual([]);
  });

  it('draining is missing readiness even when every part is there, and stays so', async () => {
    const readiness = new Readiness();
    readiness.follow(async () => []);
    readiness.drain();
    expect(await readiness.waitingFor()).toEqual(['draining']);
    readiness.follow(async () => ['session_store']);
    expect(await readiness.waitingFor()).toEqual(['draining', 'session_store']);
    expect(readiness.stopping.aborted).toBe(false);
  });

  it('stopping is reported', () => {
    const readiness = new Readiness();
    const { stopping } = readiness;
    readiness.stop();
    expect(stopping.aborted).toBe(true);
  });
});
