import { expect, it } from 'vitest';
import { collectStartupGarbage } from './startup-garbage.ts';

/** In a function of its own: nothing of this test's keeps the object. */
const forgotten = (): WeakRef<object> => new WeakRef({ text: 'x'.repeat(1_000) });

it('what the start has left is collected, and no code gets the collector', async () => {
  let collect: (() => void) | undefined;
  collectStartupGarbage((_, callback) => {
    collect = callback;
    return () => {};
  });
  const left = forgotten();
  // A weak reference holds its object until the turn of the event loop ends.
  await new Promise((resolve) => setImmediate(resolve));
  expect(left.deref()).toBeDefined();
  await new Promise((resolve) => setImmediate(resolve));
  collect?.();
  expect(left.deref()).toBeUndefined();
  expect(globalThis).not.toHaveProperty('gc');
});

it('a service that stops before takes it back', () => {
  let isTakenBack = false;
  const takeBack = collectStartupGarbage(() => () => {
    isTakenBack = true;
  });
  takeBack();
  expect(isTakenBack).toBe(true);
});
