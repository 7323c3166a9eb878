import { superviseForTest } from '@sallyport/testing/cli/supervised-workers';
import { describe, expect, it } from 'vitest';
import { rollPartially } from './partial-roll.ts';

const turn = () => new Promise(setImmediate);

/** Two workers listen; then a roll begins. */
async function begin() {
  const supervised = superviseForTest();
  const { started, listen } = supervised;
  for (const index of started.keys()) listen(index);
  const unwanted = new AbortController();
  const rolled = rollPartially(supervised, supervised.startWith('new'), unwanted.signal);
  await turn();
  return { ...supervised, unwanted, rolled };
}

describe('A roll that went no further', () => {
  it('at the first worker has replaced none', async () => {
    const { fail, end, rolled } = await begin();
    fail(2, 'no');
    end(2);
    expect(await rolled).toMatchObject({ error: { kind: 'failed', isPartial: false } });
  });

  it('at the second has replaced one', async () => {
    const { listen, end, fail, rolled } = await begin();
    listen(2);
    await turn();
    end(0);
    await turn();
    fail(3, 'no');
    end(3);
    expect(await rolled).toMatchObject({ error: { kind: 'failed', isPartial: true } });
  });

  it.each([false, true])('because it was called off has replaced one or none: %j', async (has) => {
    const { listen, end, unwanted, rolled } = await begin();
    if (has) listen(2);
    await turn();
    unwanted.abort();
    end(has ? 0 : 2);
    expect(await rolled).toMatchObject({ error: { kind: 'superseded', isPartial: has } });
  });

  it('is not one that went all the way', async () => {
    const { listen, end, rolled } = await begin();
    listen(2);
    await turn();
    end(0);
    await turn();
    listen(3);
    await turn();
    end(1);
    expect(await rolled).toEqual({ ok: true, value: undefined });
  });
});
