import { describe, expect, it } from 'vitest';
import { createMemoryStore } from './memory-adapter.ts';

const KEPT_MS = 10 * 60 * 1_000;

function setup() {
  const clock = { now: 0 };
  const store = createMemoryStore(() => clock.now);
  return { clock, store, codes: store.adapterFor('AuthorizationCode') };
}

async function fill(
  adapter: ReturnType<typeof setup>['codes'],
  times: number,
  payload: Readonly<Record<string, unknown>>,
): Promise<void> {
  for (let count = 0; count < times; count += 1)
    await adapter.upsert(`filling ${count}`, payload, 3_600);
}

describe('createMemoryStore', () => {
  it('keeps kinds of records apart, and one kind together', async () => {
    const { store, codes } = setup();
    await codes.upsert('1', { kind: 'code' }, 60);
    expect(await store.adapterFor('AuthorizationCode').find('1')).toEqual({ kind: 'code' });
    expect(await store.adapterFor('Session').find('1')).toBeUndefined();
  });

  it('finds an expired record for a while, so that it can be distinguished from an unknown one', async () => {
    const { clock, codes } = setup();
    await codes.upsert('1', { kind: 'code' }, 60);
    clock.now = 60_000 + KEPT_MS - 1;
    expect(await codes.find('1')).toBeDefined();
    clock.now += 1;
    expect(await codes.find('1')).toBeUndefined();
  });

  it('finds sessions by uid and device codes by user code', async () => {
    const { store } = setup();
    await store.adapterFor('Session').upsert('1', { uid: 'u' }, 60);
    await store.adapterFor('DeviceCode').upsert('2', { userCode: 'c' }, 60);
    expect(await store.adapterFor('Session').findByUid('u')).toEqual({ uid: 'u' });
    expect(await store.adapterFor('DeviceCode').findByUserCode('c')).toEqual({ userCode: 'c' });
    expect(await store.adapterFor('Session').findByUid('other')).toBeUndefined();
    expect(await store.adapterFor('DeviceCode').findByUserCode('other')).toBeUndefined();
  });

  it('marks a record as consumed, in epoch seconds', async () => {
    const { clock, codes } = setup();
    await codes.upsert('1', {}, 60);
    clock.now = 5_999;
    await codes.consume('1');
    await codes.consume('unknown');
    expect(await codes.find('1')).toEqual({ consumed: 5 });
  });

  it('destroys one record, and all records of one grant', async () => {
    const { codes } = setup();
    await codes.upsert('1', { grantId: 'g' }, 60);
    await codes.upsert('2', { grantId: 'g' }, 60);
    await codes.upsert('3', { grantId: 'other' }, 60);
    await codes.upsert('4', {}, 60);
    await codes.destroy('4');
    await codes.revokeByGrantId('g');
    expect(await Promise.all(['1', '2', '3', '4'].map((id) => codes.find(id)))).toEqual([
      undefined,
      undefined,
      { grantId: 'other' },
      undefined,
    ]);
  });

  it('stays bounded: drops what is past first, then the oldest', async () => {
    const { clock, codes } = setup();
    const owned = { accountId: 'ada' };
    await codes.upsert('oldest', owned, 3_600);
    await codes.upsert('past', owned, 1);
    await fill(codes, 4_998, owned);
    clock.now = 1_000 + KEPT_MS;
    await codes.upsert('one more', owned, 3_600);
    expect(await codes.find('oldest')).toBeDefined();
    await codes.upsert('two more', owned, 3_600);
    expect(await codes.find('oldest')).toBeUndefined();
    expect(await codes.find('two more')).toBeDefined();
  });

  it('requests that are not continued never push out what a person came back for or owns', async () => {
    const { store } = setup();
    const interactions = store.adapterFor('Interaction');
    await interactions.upsert('opened', { params: {} }, 3_600);
    expect(await interactions.find('opened')).toBeDefined();
    await interactions.upsert('signed in', { accountId: 'ada' }, 3_600);
    await interactions.upsert('never opened', { params: {} }, 3_600);
    await fill(interactions, 5_000, { params: {} });
    expect(await interactions.find('opened')).toBeDefined();
    expect(await interactions.find('signed in')).toBeDefined();
    expect(await interactions.find('never opened')).toBeUndefined();
  });

  it('records that a person came back for are bounded too, and push out one another only', async () => {
    const { codes } = setup();
    await codes.upsert('first', {}, 3_600);
    await codes.find('first');
    await codes.upsert('waiting', {}, 3_600);
    for (let count = 0; count < 5_000; count += 1) {
      await codes.upsert(`${count}`, {}, 3_600);
      await codes.find(`${count}`);
    }
    expect(await codes.find('first')).toBeUndefined();
    expect(await codes.find('waiting')).toBeDefined();
  });

  it('keeps the whole of a record that is stored again, wherever it stood before', async () => {
    const { codes } = setup();
    await codes.upsert('1', { uid: 'a' }, 60);
    await codes.upsert('1', { uid: 'b', accountId: 'ada' }, 60);
    await codes.upsert('1', { uid: 'c' }, 60);
    expect(await codes.find('1')).toEqual({ uid: 'c' });
    await codes.destroy('1');
    expect(await codes.find('1')).toBeUndefined();
  });

  it('leeway: a used refresh token counts as unused until it is over, from its first use on', async () => {
    const clock = { now: 0 };
    const store = createMemoryStore(() => clock.now, { refreshTokenLeewayMs: 10_000 });
    const [tokens, codes] = [store.adapterFor('RefreshToken'), store.adapterFor('DeviceCode')];
    for (const adapter of [tokens, codes]) {
      await adapter.upsert('1', {}, 3_600);
      await adapter.consume('1');
    }
    clock.now = 9_999;
    expect(await tokens.find('1')).toEqual({});
    expect(await codes.find('1')).toEqual({ consumed: 0 });
    await tokens.consume('1');
    clock.now = 10_000;
    expect(await tokens.find('1')).toEqual({ consumed: 0 });
  });

  it('forgets everything when cleared', async () => {
    const { store, codes } = setup();
    await codes.upsert('1', {});
    store.clear();
    expect(await codes.find('1')).toBeUndefined();
  });
});
