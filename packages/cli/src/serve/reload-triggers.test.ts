import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeFile } from '../admin/watch-file.ts';
import { captureProcessSignals } from './reload-triggers.ts';

const SIGNALS = ['SIGHUP', 'SIGUSR2'] as const;

/** Signals as the process hears them, without any being sent. */
function begin() {
  const others = new Map(SIGNALS.map((signal) => [signal, process.rawListeners(signal)]));
  const signals = captureProcessSignals();
  onTestFinished(() => {
    for (const signal of SIGNALS)
      for (const listener of process.rawListeners(signal))
        if (others.get(signal)?.includes(listener) === false)
          process.removeListener(signal, listener);
  });
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
  ])('%s is reported as such once it is watched', (_, known, reported) => {
    const { done, timers, connect } = begin();
    connect(fileURLToPath(import.meta.url), known);
    for (let second = 0; second < 3; second += 1) timers.shift()?.();
    expect(done).toEqual(reported);
  });

  it('SIGHUP has the change read at once, and the watch does not have the same read again', () => {
    const { timers, connect, hear, done } = begin();
    const folder = createTemporaryFolder();
    const file = join(folder, 'sallyport.yaml');
    const pass = (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) timers.shift()?.();
      return done.splice(0);
    };
    writeFileSync(file, 'good');
    connect(file, describeFile(file));
    writeFileSync(file, 'no longer good');
    hear('SIGHUP');
    expect(pass(3)).toEqual(['signal']);
    // A signal is always answered, a change always noticed.
    hear('SIGHUP');
    expect(pass(3)).toEqual(['signal']);
    hear('SIGHUP');
    writeFileSync(file, 'good again');
    expect(pass(3)).toEqual(['signal', 'file_changed']);
    // What looks the same in the end, as a file that is gone, is a change all the same.
    rmSync(file);
    hear('SIGHUP');
    expect(pass(3)).toEqual(['signal']);
    writeFileSync(file, 'back');
    expect(pass(3)).toEqual(['file_changed']);
    rmSync(file);
    expect(pass(3)).toEqual(['file_changed']);
  });

  it('without a configuration file nothing is watched', () => {
    const { timers, connect } = begin();
    connect();
    expect(timers).toEqual([]);
  });
});
