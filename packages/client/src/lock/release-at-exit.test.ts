import { describe, expect, it, onTestFinished } from 'vitest';
import { releaseAtExit } from './release-at-exit.ts';

describe('Release at the end of the process', () => {
  it('releases at an exit, and not after it was taken back', () => {
    let released = 0;
    const others = new Set(process.listeners('exit'));
    releaseAtExit(() => {
      released += 1;
    });
    const takeBack = releaseAtExit(() => {
      released += 10;
    });
    takeBack();
    const [onExit, ...more] = process.listeners('exit').filter((one) => !others.has(one));
    onExit?.(0);
    expect([released, more]).toEqual([1, []]);
    expect(process.listeners('exit')).not.toContain(onExit);
  });

  it('a signal that the program listens to itself is left to the program', () => {
    const heard: string[] = [];
    const own = (): void => void heard.push('own');
    process.on('SIGHUP', own);
    onTestFinished(() => void process.off('SIGHUP', own));
    const takeBack = releaseAtExit(() => void heard.push('released'));
    onTestFinished(takeBack);
    process.emit('SIGHUP', 'SIGHUP');
    expect(heard).toEqual(['own']);
  });

  it('leaves no listener behind', () => {
    const before = process.listenerCount('SIGTERM');
    releaseAtExit(() => undefined)();
    expect(process.listenerCount('SIGTERM')).toBe(before);
  });
});
