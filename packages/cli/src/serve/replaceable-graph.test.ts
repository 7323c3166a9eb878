import { Readiness } from '@sallyport/server';
import type { HttpRequest, HttpResponse } from '@sallyport/server/listener';
import { describe, expect, it } from 'vitest';
import { createReplaceableGraph, type Graph } from './replaceable-graph.ts';

/** A graph that notes what happens to it. */
function graph(name: string, known: Readonly<Record<string, boolean>>) {
  const state = { known, answered: 0, stopped: 0, settled: 0, closed: 0 };
  /** Ends what it listens for; absent when there is nothing. */
  let listening: Promise<void> | undefined;
  /** Ends its closing; absent when that takes no time. */
  let closing: Promise<void> | undefined;
  const made: Graph = {
    handlers: {
      http: () => {
        state.answered += 1;
      },
    },
    waitingFor: async () =>
      state.known['identity_provider'] === true ? [] : ['identity_provider'],
    knowledge: () => new Map(Object.entries(state.known)),
    stopping: () => {
      state.stopped += 1;
    },
    settle: async () => {
      state.settled += 1;
      await listening;
    },
    close: async () => {
      await closing;
      state.closed += 1;
    },
  };
  return {
    name,
    state,
    made,
    /** It listens for an answer of its IdP until the function returned is called. */
    listens(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      listening = promise;
      return resolve;
    },
    /** Its closing takes until the function returned is called. */
    closesSlowly(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      closing = promise;
      return resolve;
    },
  };
}

function begin(known: Readonly<Record<string, boolean>>) {
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  let now = 0;
  const readiness = new Readiness();
  const lines: unknown[] = [];
  const first = graph('first', known);
  const graphs = createReplaceableGraph(first.made, {
    readiness,
    schedule(afterMs, callback) {
      const timer = { at: now + afterMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    log: (_, event, fields) => lines.push([event, fields?.['waiting_for']]),
  });
  return {
    first,
    graphs,
    readiness,
    lines,
    timers,
    ask: () => graphs.handlers.http({} as HttpRequest, {} as HttpResponse),
    async pass(ms: number) {
      const until = now + ms;
      for (;;) {
        await new Promise(setImmediate);
        const next = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        now = next.at;
        timers.delete(next);
        next.callback();
      }
      now = until;
    },
  };
}

const KNOWN = { identity_provider: true, 'keys https://idp': true };
const UNKNOWN = { identity_provider: false, 'keys https://idp': false };
const never = new AbortController().signal;

describe('A graph that is to take over', () => {
  it('does so at once when it knows what the present one knows; readiness follows it', async () => {
    const { first, graphs, readiness, ask } = begin(KNOWN);
    const next = graph('next', KNOWN);
    ask();
    expect(await graphs.replace(next.made, never)).toBe(true);
    ask();
    ask();
    expect([first.state.answered, next.state.answered]).toEqual([1, 2]);
    next.state.known = { identity_provider: false };
    expect(await readiness.waitingFor()).toEqual(['identity_provider']);
  });

  it('waits for what the present one knows, which answers until then, and says what for', async () => {
    const { first, graphs, readiness, ask, pass, lines } = begin(KNOWN);
    const next = graph('next', UNKNOWN);
    const replaced = graphs.replace(next.made, never);
    await pass(1_000);
    expect(lines).toEqual([]);
    await pass(60_000);
    ask();
    expect([first.state.answered, next.state.answered]).toEqual([1, 0]);
    expect(await readiness.waitingFor()).toEqual([]);
    expect(lines).toEqual([['configuration_waits', ['identity_provider', 'keys https://idp']]]);
    next.state.known = { ...KNOWN, identity_provider: false };
    await pass(1_000);
    ask();
    expect([first.state.answered, next.state.answered]).toEqual([2, 0]);
    next.state.known = KNOWN;
    await pass(100);
    expect(await replaced).toBe(true);
    ask();
    expect(next.state.answered).toBe(1);
  });

  it.each([
    ['what the present one does not know either', UNKNOWN, UNKNOWN],
    ['an issuer that is new', KNOWN, { ...KNOWN, 'keys https://other': false }],
    ['an issuer that is left out', { ...KNOWN, 'keys https://other': true }, KNOWN],
  ])('does not wait for %s', async (_, known, wanted) => {
    const { graphs, timers } = begin(known);
    expect(await graphs.replace(graph('next', wanted).made, never)).toBe(true);
    // The one that closes the first.
    expect(timers.size).toBe(1);
  });

  it('and is not wanted any more is closed, and the present one stays', async () => {
    const { first, graphs, ask, pass } = begin(KNOWN);
    const next = graph('next', UNKNOWN);
    const unwanted = new AbortController();
    const replaced = graphs.replace(next.made, unwanted.signal);
    await pass(100);
    unwanted.abort();
    next.state.known = KNOWN;
    await pass(100);
    expect(await replaced).toBe(false);
    ask();
    expect([first.state.answered, next.state.answered, next.state.closed]).toEqual([1, 0, 1]);
    expect(first.state.closed).toBe(0);
  });
});

describe('A graph that was replaced', () => {
  it('is closed after 30 s, and not before: longer than any of its requests waits', async () => {
    const { first, graphs, pass } = begin(KNOWN);
    const next = graph('next', KNOWN);
    await graphs.replace(next.made, never);
    await pass(29_999);
    expect([first.state.stopped, first.state.closed]).toEqual([0, 0]);
    await pass(1);
    expect(first.state.closed).toBe(1);
    await graphs.close();
    expect([first.state.closed, next.state.closed]).toEqual([1, 1]);
  });

  it('and listens for an answer of its IdP is not closed before that has come, however late', async () => {
    const { first, graphs, pass } = begin(KNOWN);
    const answered = first.listens();
    await graphs.replace(graph('next', KNOWN).made, never);
    await pass(600_000);
    expect([first.state.settled, first.state.closed]).toEqual([1, 0]);
    answered();
    await pass(0);
    expect(first.state.closed).toBe(1);
    await graphs.close();
    expect(first.state.closed).toBe(1);
  });

  it('and listens is stopped and closed with the process, once', async () => {
    const { first, graphs, pass } = begin(KNOWN);
    const answered = first.listens();
    await graphs.replace(graph('next', KNOWN).made, never);
    await pass(60_000);
    graphs.stopping();
    await graphs.close();
    expect([first.state.stopped, first.state.closed]).toEqual([1, 1]);
    answered();
    await pass(0);
    expect(first.state.closed).toBe(1);
  });

  it.each([
    ['is waited for when the process ends while it is closed', 30_000],
    ['is waited for when the process ends before that', 29_999],
  ])('%s: the store is open until then', async (_, afterMs) => {
    const { first, graphs, pass } = begin(KNOWN);
    const closed = first.closesSlowly();
    await graphs.replace(graph('next', KNOWN).made, never);
    await pass(afterMs);
    let isOver = false;
    const end = async () => {
      await graphs.close();
      isOver = true;
    };
    const ended = end();
    await pass(1_000);
    expect([first.state.closed, isOver]).toEqual([0, false]);
    closed();
    await ended;
    expect(first.state.closed).toBe(1);
  });

  it('is not waited for any more once it is closed', async () => {
    const { first, graphs, pass } = begin(KNOWN);
    const closed = first.closesSlowly();
    await graphs.replace(graph('next', KNOWN).made, never);
    await pass(30_000);
    closed();
    await pass(0);
    await graphs.close();
    expect(first.state.closed).toBe(1);
  });

  it('is stopped and closed with the one that answers, when the process ends before that', async () => {
    const { first, graphs, pass } = begin(KNOWN);
    const next = graph('next', KNOWN);
    await graphs.replace(next.made, never);
    graphs.stopping();
    expect([first.state.stopped, next.state.stopped]).toEqual([1, 1]);
    await graphs.close();
    await pass(60_000);
    expect([first.state.closed, next.state.closed]).toEqual([1, 1]);
  });
});
