import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { takeLifeSignals } from './reload-triggers.ts';
import { describeFile } from './watch-file.ts';

/** Signals as the process hears them, without any being sent. */
function begin() {
  const signals = takeLifeSignals();
  const done: string[] = [];
  const timers: (() => void)[] = [];
  const connect = (file?: string, known?: string) =>
    signals.connect({
      file,
      known,
      schedule: (_, callback) => {
        timers.push(callback);
        return () => timers.splice(timers.indexOf(callback), 1);
      },
      reload: (reason) => done.push(reason),
      restart: () => done.push('restart'),
    });
  return { done, timers, connect, hear: (signal: NodeJS.Signals) => process.emit(signal, signal) };
}

describe('A signal', () => {
  it('SIGHUP reloads, SIGUSR2 restarts', () => {
    const { done, connect, hear } = begin();
    connect();
    hear('SIGHUP');
    hear('SIGUSR2');
    hear('SIGHUP');
    expect(done).toEqual(['signal', 'restart', 'signal']);
  });

  it('that comes while the service starts is caught up on, once', () => {
    const { done, connect, hear } = begin();
    hear('SIGHUP');
    hear('SIGHUP');
    expect(done).toEqual([]);
    connect();
    expect(done).toEqual(['signal']);
  });

  it('does nothing any more once the service stops, and the file is watched no longer', () => {
    const { done, timers, connect, hear } = begin();
    const disconnect = connect('/nowhere/sallyport.yaml');
    expect(timers).toHaveLength(1);
    disconnect();
    hear('SIGHUP');
    hear('SIGUSR2');
    expect([done, timers]).toEqual([[], []]);
  });

  it.each([
    ['another file than the one that was read first', 'as it was', ['file_changed']],
    ['the one that was read first', describeFile(fileURLToPath(import.meta.url)), []],
  ])('%s is told as such once it is watched', (_, known, told) => {
    const { done, timers, connect } = begin();
    connect(fileURLToPath(import.meta.url), known);
    for (let second = 0; second < 3; second += 1) timers.shift()?.();
    expect(done).toEqual(told);
  });

  it('without a configuration file nothing is watched', () => {
    const { timers, connect } = begin();
    connect();
    expect(timers).toEqual([]);
  });
});
