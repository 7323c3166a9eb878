import { type LoadedConfig, loadConfig } from '@sallyport/config';
import { accept, type Result, SallyportError } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import { createReloads, type ReloadOutcome, type ReloadRefusal } from './reloads.ts';

const ENV = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_BASE_URL: 'https://idp.example.com',
  OIDC_CLIENT_ID: 'web',
  CLI_CLIENT_ID: 'native',
};
const FIRST = 'access: {groups: [core]}';
const SECOND = 'access: {groups: [ops]}';
const BAD = 'access: {groups: 7}';

const load = (text: string) =>
  loadConfig({ file: { path: 'core.yaml', text }, env: ENV, flags: {} }, 'serve');

function begin(text = FIRST) {
  const state = { text };
  const outcomes: ReloadOutcome[] = [];
  const applied: {
    readonly loaded: LoadedConfig;
    readonly signal: AbortSignal;
    readonly end: PromiseWithResolvers<Result<undefined, ReloadRefusal>>;
  }[] = [];
  const first = load(text);
  if (!first.ok) throw new TypeError('the first is good');
  const reloads = createReloads({
    config: first.value.config,
    read() {
      const loaded = load(state.text);
      return loaded.ok ? accept({ loaded: loaded.value }) : loaded;
    },
    apply({ loaded }, signal) {
      const end = Promise.withResolvers<Result<undefined, ReloadRefusal>>();
      applied.push({ loaded, signal, end });
      return end.promise;
    },
    tell: (outcome) => outcomes.push(outcome),
  });
  return {
    state,
    outcomes,
    applied,
    reloads,
    async end(index: number, result: Result<undefined, ReloadRefusal> = accept(undefined)) {
      applied[index]?.end.resolve(result);
      await new Promise(setImmediate);
    },
  };
}

const DONE = accept(undefined);
const SUPERSEDED = { ok: false, error: { kind: 'superseded' } } as const;

describe('A reload', () => {
  it('is told, with the keys that changed, only once it is in effect', async () => {
    const { state, reloads, outcomes, applied, end } = begin();
    state.text = SECOND;
    reloads.reload('file_changed');
    expect([applied.length, outcomes]).toEqual([1, []]);
    await end(0);
    expect(outcomes).toEqual([
      { event: 'configuration_loaded', reason: 'file_changed', changed: 'access.groups' },
    ]);
    expect(applied[0]?.loaded.config.access.groups).toEqual(['ops']);
  });

  it('by a signal is carried out although nothing changed: secrets and keys may have', async () => {
    const { reloads, outcomes, end } = begin();
    reloads.reload('signal');
    await end(0);
    expect(outcomes).toEqual([{ event: 'configuration_loaded', reason: 'signal', changed: '' }]);
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
      ['configuration_refused', 'access.groups'],
      ['configuration_loaded', 'access.groups'],
      ['configuration_loaded', ''],
    ]);
  });
});

describe('A configuration that cannot be used', () => {
  it('is told with file, line and key, and nothing is done', () => {
    const { state, reloads, outcomes, applied } = begin();
    state.text = BAD;
    reloads.reload('file_changed');
    expect(applied).toEqual([]);
    expect(outcomes).toEqual([
      {
        event: 'configuration_refused',
        reason: 'file_changed',
        changed: '',
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
  ])('because %j needs a restart is told with those keys', (text, keys) => {
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
  ] as const)('as only shows when it is put into effect is told, %#', async (error, problem) => {
    const { state, reloads, outcomes, end } = begin();
    state.text = SECOND;
    reloads.reload('signal');
    await end(0, { ok: false, error });
    expect(outcomes).toMatchObject([{ event: 'configuration_refused', problem }]);
  });

  it.each([
    [new SallyportError('SP_CONFIG_INVALID', { component: 'x' }), 'SP_CONFIG_INVALID (x)'],
    [new Error('canary'), 'it could not be used'],
  ])('and makes something throw is told without more than may be said', async (cause, problem) => {
    const { reloads, outcomes, applied } = begin();
    reloads.reload('signal');
    applied[0]?.end.reject(cause);
    await new Promise(setImmediate);
    expect(outcomes).toMatchObject([{ event: 'configuration_refused', problem }]);
  });
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
