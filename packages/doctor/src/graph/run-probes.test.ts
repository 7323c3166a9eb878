import { describe, expect, it } from 'vitest';
import { fail, warn } from '../finding/finding.ts';
import { broken, found, type Outcome, type Probe, skipped } from './probe.ts';
import { type RunOptions, runProbes } from './run-probes.ts';

const FAULT = fail('not_tls', 'a fault', 'mend it');

function probe<V>(
  id: string,
  needs: readonly Probe[],
  run: Probe<V>['run'],
  more: Partial<Probe<V>> = {},
): Probe<V> {
  return { id, group: 'http', title: `title of ${id}`, needs, run, ...more };
}

const well = (id: string, needs: readonly Probe[] = []): Probe<string> =>
  probe(id, needs, () => found(id));
const faulty = (id: string, needs: readonly Probe[] = []): Probe<string> =>
  probe<string>(id, needs, () => broken(FAULT));

function run(probes: readonly Probe[], options: Partial<RunOptions> = {}) {
  return runProbes(probes, {
    schedule: () => () => {},
    probeTimeoutMs: 1_000,
    signal: new AbortController().signal,
    ...options,
  });
}

describe('A graph of probes', () => {
  it('gives each probe the values of those it needs', async () => {
    const a = probe('a', [], () => found(1));
    const b = probe('b', [a], (answers) => found(answers.get(a) + 1));
    const c = probe('c', [a, b], (answers) => found([answers.get(a), answers.get(b)]));
    let value: unknown;
    const last = probe('last', [c], (answers) => {
      value = answers.get(c);
      return found(undefined);
    });
    expect((await run([last])).map(({ id, status }) => `${id} ${status}`).toSorted()).toEqual([
      'a ok',
      'b ok',
      'c ok',
      'last ok',
    ]);
    expect(value).toEqual([1, 2]);
  });

  it('gives no value of a probe that is not needed', async () => {
    const a = well('a');
    const b = probe('b', [], (answers) => found(answers.get(a)));
    const [, second] = await run([a, b]);
    expect(second?.findings[0]?.code).toBe('probe_failed');
  });

  it('says of everything behind a fault that it needs the fault’s probe, and nothing more', async () => {
    const a = faulty('a');
    const b = well('b', [a]);
    const c = well('c', [b]);
    const d = well('d');
    const results = await run([a, b, c, d]);
    expect(results.map(({ status, why, findings }) => [status, why, findings.length])).toEqual([
      ['fail', '', 1],
      ['skip', 'needs a', 0],
      ['skip', 'needs a', 0],
      ['ok', '', 0],
    ]);
  });

  it('does not ask a probe that is postponed, and gives what needs it the same reason', async () => {
    const ran: string[] = [];
    const noting = (id: string, needs: readonly Probe[] = []): Probe =>
      probe(id, needs, () => {
        ran.push(id);
        return found(id);
      });
    const a = noting('a');
    const b = noting('b', [a]);
    const c = noting('c', [b]);
    const d = noting('d', [a]);
    const results = await run([a, b, c, d], { postponed: new Map([['b', 'not running yet']]) });
    expect(results.map(({ status, why }) => [status, why])).toEqual([
      ['ok', ''],
      ['skip', 'not running yet'],
      ['skip', 'not running yet'],
      ['ok', ''],
    ]);
    expect(ran).toEqual(['a', 'd']);
  });

  it('names the fault where a postponed probe needs one that failed', async () => {
    const a = faulty('a');
    const results = await run([a, well('b', [a])], {
      postponed: new Map([['b', 'not running yet']]),
    });
    expect(results.map(({ status, why }) => [status, why])).toEqual([
      ['fail', ''],
      ['skip', 'needs a'],
    ]);
  });

  it('goes on behind a finding that comes with a value', async () => {
    const a = probe('a', [], () => found(1, [warn('not_tls', 'odd', 'look')]));
    const b = probe('b', [], () => found(1, [FAULT]));
    const results = await run([a, b, well('c', [a, b])]);
    expect(results.map(({ status }) => status)).toEqual(['warn', 'fail', 'ok']);
  });

  it('waits for what a probe comes after, and runs it without its value', async () => {
    const a = faulty('a');
    const b = well('b');
    let seen: unknown;
    const c = probe(
      'c',
      [],
      (answers) => {
        seen = [answers.find(a), answers.find(b)];
        return found(undefined);
      },
      { after: [a, b] },
    );
    await run([c, a, b]);
    expect(seen).toEqual([undefined, 'b']);
  });

  it('runs what does not depend on each other at the same time', async () => {
    const { promise: both, resolve } = Promise.withResolvers<void>();
    let begun = 0;
    const begin = async (): Promise<Outcome<number>> => {
      begun += 1;
      if (begun === 2) resolve();
      await both;
      return found(1);
    };
    const results = await run([probe('a', [], begin), probe('b', [], begin)]);
    expect(results.map(({ status }) => status)).toEqual(['ok', 'ok']);
  });

  it('ends a probe that takes too long, and counts it as a fault', async () => {
    const never = probe('never', [], () => new Promise<Outcome<number>>(() => {}));
    const timers: (() => void)[] = [];
    const running = run([never, well('behind', [never])], {
      schedule: (_, callback) => {
        timers.push(callback);
        return () => {};
      },
    });
    await new Promise(setImmediate);
    for (const fire of timers) fire();
    const [first, second] = await running;
    expect(first?.findings[0]?.code).toBe('probe_unfinished');
    expect(second?.why).toBe('needs never');
  });

  it('ends all of it with the signal', async () => {
    const ender = new AbortController();
    const never = probe('never', [], () => new Promise<Outcome<number>>(() => {}));
    const running = run([never], { signal: ender.signal });
    await new Promise(setImmediate);
    ender.abort();
    expect((await running)[0]?.status).toBe('fail');
    expect((await run([well('a')], { signal: ender.signal }))[0]?.why).toBe('the time was up');
  });

  it('says of a probe that throws no more than its message, in one line', async () => {
    const [result] = await run([
      probe('a', [], () => {
        throw new Error('one\n\u001b[31mtwo');
      }),
    ]);
    expect(result?.findings[0]?.evidence).toEqual(['one [31mtwo']);
  });

  it('reports the groups that are asked for with what they need, and runs no others', async () => {
    const ran: string[] = [];
    const noting = (id: string, group: Probe['group'], needs: readonly Probe[] = []): Probe =>
      probe(
        id,
        needs,
        () => {
          ran.push(id);
          return found(id);
        },
        { group },
      );
    const a = noting('a', 'dns');
    const b = noting('b', 'tls', [a]);
    const results = await run([a, b, noting('c', 'oidc')], { only: ['tls'] });
    expect(results.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(ran).toEqual(['a', 'b']);
  });

  it('does not run groups that are left out, nor what needs them', async () => {
    const a = probe('a', [], () => found(1), { group: 'dns' });
    const results = await run([a, well('b', [a])], { skip: ['dns'] });
    expect(results.map(({ why }) => why)).toEqual(['left out', 'needs a']);
  });

  it('keeps why a probe could not be asked', async () => {
    const [result] = await run([probe('a', [], () => skipped('not here'))]);
    expect([result?.status, result?.why]).toEqual(['skip', 'not here']);
  });

  it('refuses probes that need each other, and two of one name', async () => {
    const needs: Probe[] = [];
    const a = well('a', needs);
    needs.push(well('b', [a]));
    await expect(run([a])).rejects.toThrow('needs itself');
    await expect(run([well('a'), well('a')])).rejects.toThrow('two probes');
  });
});
