import { SallyportError } from '@sallyport/protocol';
import {
  BAD,
  begin,
  DONE,
  FAILED,
  FIRST,
  HALF_FAILED,
  HALF_SUPERSEDED,
  SECOND,
  SUPERSEDED,
  WARNED,
} from '@sallyport/testing/cli/reloads';
import { describe, expect, it } from 'vitest';

describe('A reload', () => {
  it('is reported, with the keys that changed, only once it is in effect', async () => {
    const { state, reloads, outcomes, applied, end } = begin();
    state.text = SECOND;
    reloads.reload('file_changed');
    expect([applied.length, outcomes]).toEqual([1, []]);
    await end(0);
    expect(outcomes).toEqual([
      {
        event: 'configuration_loaded',
        reason: 'file_changed',
        changed: ['access.groups'],
        warnings: [],
      },
    ]);
    expect(applied[0]?.loaded.config.access.groups).toEqual(['ops']);
  });

  it('by a signal is carried out although nothing changed: secrets and keys may have', async () => {
    const { reloads, outcomes, end } = begin();
    reloads.reload('signal');
    await end(0);
    expect(outcomes).toEqual([
      { event: 'configuration_loaded', reason: 'signal', changed: [], warnings: [] },
    ]);
  });

  it('because of a file in which every value is the same is none', async () => {
    const { state, reloads, outcomes, applied } = begin();
    state.text = `# a comment\n${FIRST}`;
    reloads.reload('file_changed');
    expect([applied, outcomes]).toEqual([[], []]);
  });

  it('to what was before a change that is still under way is one', async () => {
    const { state, reloads, outcomes, applied, end } = begin();
    state.text = SECOND;
    reloads.reload('file_changed');
    state.text = FIRST;
    reloads.reload('file_changed');
    expect(applied[0]?.signal.aborted).toBe(true);
    await end(0, SUPERSEDED);
    await end(1);
    expect(outcomes.map(({ event }) => event)).toEqual([
      'configuration_superseded',
      'configuration_loaded',
    ]);
  });

  it('compares with what is in effect, not with what was refused', async () => {
    const { state, reloads, outcomes, end } = begin();
    state.text = SECOND;
    reloads.reload('signal');
    await end(0, { ok: false, error: { kind: 'failed', sentence: 'no' } });
    reloads.reload('file_changed');
    await end(1);
    reloads.reload('signal');
    await end(2);
    expect(
      outcomes.map(({ event, ...rest }) => [event, 'changed' in rest && rest.changed]),
    ).toEqual([
      ['configuration_refused', ['access.groups']],
      ['configuration_loaded', ['access.groups']],
      ['configuration_loaded', []],
    ]);
  });
});

describe('A warning of a changed configuration', () => {
  it('is reported once that is in effect, and not of one that was refused', async () => {
    const { state, reloads, outcomes, end } = begin();
    state.text = WARNED;
    reloads.reload('signal');
    await end(0, FAILED);
    reloads.reload('signal');
    expect(outcomes.map((outcome) => 'warnings' in outcome)).toEqual([false]);
    await end(1);
    expect(outcomes[1]).toMatchObject({
      warnings: [{ key: 'auth.userAuth.cookieSetting.sameSitePolicy' }],
    });
  });
});

describe('A reload for the values that are on their way already', () => {
  it('lets them arrive, however often it is asked for, and follows once', async () => {
    const { state, reloads, outcomes, applied, end } = begin();
    state.text = SECOND;
    for (let count = 0; count < 5; count += 1) reloads.reload('signal');
    expect([applied.length, applied[0]?.signal.aborted]).toEqual([1, false]);
    await end(0);
    expect(outcomes.at(-1)).toMatchObject({
      event: 'configuration_loaded',
      changed: ['access.groups'],
    });
    expect([applied.length, applied[1]?.signal.aborted]).toEqual([2, false]);
    await end(1);
    expect(applied).toHaveLength(2);
  });

  it('calls off what is under way as soon as others are wanted', () => {
    const { state, reloads, applied } = begin();
    state.text = SECOND;
    reloads.reload('signal');
    reloads.reload('signal');
    expect(applied[0]?.signal.aborted).toBe(false);
    state.text = FIRST;
    reloads.reload('signal');
    expect(applied[0]?.signal.aborted).toBe(true);
  });
});

describe('A reload that a newer one takes the place of', () => {
  it('while it waits is reported, and the one that follows is not', async () => {
    const { state, reloads, outcomes, applied, end } = begin();
    reloads.reload('signal');
    state.text = SECOND;
    reloads.reload('file_changed');
    expect(outcomes).toEqual([]);
    state.text = FIRST;
    reloads.reload('signal');
    expect(outcomes).toEqual([{ event: 'configuration_superseded', reason: 'file_changed' }]);
    await end(0, SUPERSEDED);
    await end(1);
    expect(outcomes.map(({ event }) => event)).toEqual([
      'configuration_superseded',
      'configuration_superseded',
      'configuration_loaded',
    ]);
    expect(applied[1]?.loaded.config.access.groups).toEqual(['core']);
  });

  it('and fails, leaves the newer one in place', async () => {
    const { state, reloads, applied, end } = begin();
    reloads.reload('signal');
    state.text = SECOND;
    reloads.reload('file_changed');
    await end(0, FAILED);
    reloads.reload('file_changed');
    expect(applied).toHaveLength(2);
    state.text = FIRST;
    reloads.reload('file_changed');
    await end(1, SUPERSEDED);
    expect(applied[2]?.loaded.config.access.groups).toEqual(['core']);
  });

  it('without a newer one is tried again with the same file', async () => {
    const { state, reloads, applied, end } = begin();
    state.text = SECOND;
    reloads.reload('file_changed');
    await end(0, SUPERSEDED);
    reloads.reload('file_changed');
    expect(applied).toHaveLength(2);
    await end(1);
    reloads.reload('file_changed');
    expect(applied).toHaveLength(2);
  });
});

describe('A roll that failed half-way', () => {
  it('is taken back, once, and reported; after that the old file is no change', async () => {
    const { state, reloads, outcomes, applied, restored, end, endRestore } = begin({
      isRolling: true,
    });
    state.text = SECOND;
    reloads.reload('file_changed');
    await end(0, HALF_FAILED);
    expect(outcomes.map(({ event }) => event)).toEqual(['configuration_refused']);
    await endRestore(0);
    expect(outcomes[1]).toEqual({ event: 'configuration_restored', reason: 'file_changed' });
    state.text = FIRST;
    reloads.reload('file_changed');
    expect([applied.length, restored.length]).toEqual([1, 1]);
  });

  it('and cannot be taken back is reported as such, and any file is a change then', async () => {
    const { state, reloads, outcomes, applied, restored, end, endRestore } = begin({
      isRolling: true,
    });
    state.text = SECOND;
    reloads.reload('file_changed');
    await end(0, HALF_FAILED);
    await endRestore(0, HALF_FAILED);
    expect(outcomes[1]).toEqual({
      event: 'configuration_mixed',
      reason: 'file_changed',
      problem: 'no',
    });
    state.text = FIRST;
    reloads.reload('file_changed');
    expect([applied.length, restored.length]).toEqual([2, 1]);
    await end(1);
    reloads.reload('file_changed');
    expect(applied).toHaveLength(2);
  });

  it('and is not taken back for its part because a newer one came, which replaces everything', async () => {
    const { state, reloads, outcomes, applied, restored, end, endRestore } = begin({
      isRolling: true,
    });
    state.text = SECOND;
    reloads.reload('file_changed');
    await end(0, HALF_FAILED);
    state.text = FIRST;
    reloads.reload('file_changed');
    expect(restored[0]?.signal.aborted).toBe(true);
    await endRestore(0, SUPERSEDED);
    await end(1);
    expect(outcomes.map(({ event }) => event)).toEqual([
      'configuration_refused',
      'configuration_loaded',
    ]);
    expect([applied.length, restored.length]).toEqual([2, 1]);
  });

  it.each([
    ['changed nothing', true, FAILED],
    ['was in one process', false, HALF_FAILED],
  ])(
    'is not taken back when it %s, and the old file is no change',
    async (_, isRolling, result) => {
      const { state, reloads, applied, restored, outcomes, end } = begin({ isRolling });
      state.text = SECOND;
      reloads.reload('file_changed');
      await end(0, result);
      state.text = FIRST;
      reloads.reload('file_changed');
      expect([applied.length, restored.length]).toEqual([1, 0]);
      expect(outcomes.map(({ event }) => event)).toEqual([
        'configuration_refused',
        'configuration_good_again',
      ]);
    },
  );
});

describe('A roll that was superseded half-way', () => {
  it('by one that then changes nothing itself is taken back', async () => {
    const { state, reloads, restored, end, endRestore, outcomes } = begin({ isRolling: true });
    state.text = SECOND;
    reloads.reload('file_changed');
    state.text = FIRST;
    reloads.reload('file_changed');
    await end(0, HALF_SUPERSEDED);
    expect(restored).toEqual([]);
    await end(1, FAILED);
    await endRestore(0);
    expect(outcomes.map(({ event }) => event)).toEqual([
      'configuration_superseded',
      'configuration_refused',
      'configuration_restored',
    ]);
  });
});

describe('A restart', () => {
  it('does nothing while a reload is under way or waits, and does not disturb it', async () => {
    const { reloads, applied, end } = begin({ isRolling: true });
    const done: string[] = [];
    const restart = () =>
      reloads.restart(async () => {
        done.push('restart');
        return true;
      });
    reloads.reload('signal');
    expect(restart()).toBe(false);
    expect(applied[0]?.signal.aborted).toBe(false);
    reloads.reload('signal');
    expect(restart()).toBe(false);
    await end(0, SUPERSEDED);
    expect([restart(), applied[1]?.signal.aborted]).toEqual([false, false]);
    await end(1);
    expect(done).toEqual([]);
    expect([restart(), done]).toEqual([true, ['restart']]);
  });

  it('is called off by a reload', async () => {
    const { reloads, applied } = begin({ isRolling: true });
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const signals: AbortSignal[] = [];
    reloads.restart((signal) => {
      signals.push(signal);
      return promise;
    });
    expect(signals[0]?.aborted).toBe(false);
    reloads.reload('signal');
    expect([signals[0]?.aborted, applied.length]).toEqual([true, 0]);
    resolve(false);
    await new Promise(setImmediate);
    expect(applied).toHaveLength(1);
  });

  it.each([
    [true, 1],
    [false, 2],
  ])('makes workers agree again when it is whole: %j', async (isWhole, count) => {
    const { state, reloads, applied, end, endRestore } = begin({ isRolling: true });
    state.text = SECOND;
    reloads.reload('file_changed');
    await end(0, HALF_FAILED);
    await endRestore(0, FAILED);
    expect(reloads.restart(async () => isWhole)).toBe(true);
    await new Promise(setImmediate);
    state.text = FIRST;
    reloads.reload('file_changed');
    expect(applied).toHaveLength(count);
  });
});

describe('A configuration that cannot be used', () => {
  it('is reported with file, line and key, and nothing is done', () => {
    const { state, reloads, outcomes, applied } = begin();
    state.text = BAD;
    reloads.reload('file_changed');
    expect(applied).toEqual([]);
    expect(outcomes).toEqual([
      {
        event: 'configuration_refused',
        reason: 'file_changed',
        problem: 'core.yaml:1: access.groups: found 7, expected a list of groups',
      },
    ]);
  });

  it('does not disturb a good one that is under way', async () => {
    const { state, reloads, outcomes, applied, end } = begin();
    state.text = SECOND;
    reloads.reload('file_changed');
    state.text = BAD;
    reloads.reload('file_changed');
    expect(applied[0]?.signal.aborted).toBe(false);
    await end(0);
    expect(outcomes.map(({ event }) => event)).toEqual([
      'configuration_refused',
      'configuration_loaded',
    ]);
  });

  it.each([
    ['listen: {port: 9}', 'listen.port'],
    [
      'server: {workers: auto}\nsession: {store: redis, redis: {addresses: [r:1]}}',
      'server.workers, session.store, session.redis.addresses',
    ],
  ])('because %j needs a restart is reported with those keys', (text, keys) => {
    const { state, reloads, outcomes, applied } = begin();
    state.text = text;
    reloads.reload('signal');
    expect(applied).toEqual([]);
    expect(outcomes).toMatchObject([
      {
        event: 'configuration_refused',
        problem: `${keys}: takes effect only when the service is started again`,
      },
    ]);
  });

  it.each([
    [
      {
        kind: 'problems',
        problems: [{ file: 's', line: undefined, key: 'k', found: 'f', expected: 'e' }],
      },
      's: k: found f, expected e',
    ],
    [{ kind: 'failed', sentence: 'the worker ended' }, 'the worker ended'],
  ] as const)(
    'as only shows when it is put into effect is reported, %#',
    async (error, problem) => {
      const { state, reloads, outcomes, end } = begin();
      state.text = SECOND;
      reloads.reload('signal');
      await end(0, { ok: false, error });
      expect(outcomes).toMatchObject([{ event: 'configuration_refused', problem }]);
    },
  );

  it.each([
    [new SallyportError('SP_CONFIG_INVALID', { component: 'x' }), 'SP_CONFIG_INVALID (x)'],
    [new Error('canary'), 'it could not be used'],
  ])(
    'and makes something throw is reported without more than may be said',
    async (cause, problem) => {
      const { reloads, outcomes, applied } = begin();
      reloads.reload('signal');
      applied[0]?.end.reject(cause);
      await new Promise(setImmediate);
      expect(outcomes).toMatchObject([{ event: 'configuration_refused', problem }]);
    },
  );
});

describe('The end of the process', () => {
  it('calls off what is under way and takes nothing new', async () => {
    const { reloads, applied, outcomes } = begin();
    reloads.reload('signal');
    const closed = reloads.close();
    reloads.reload('signal');
    expect(applied.map(({ signal }) => signal.aborted)).toEqual([true]);
    applied[0]?.end.resolve(SUPERSEDED);
    await closed;
    expect([applied.length, outcomes.length]).toEqual([1, 1]);
  });

  it('waits for nothing when nothing is under way', async () => {
    const { reloads, applied, end } = begin();
    reloads.reload('signal');
    await end(0, DONE);
    await reloads.close();
    expect(applied).toHaveLength(1);
  });
});
