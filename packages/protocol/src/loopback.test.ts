import { describe, expect, it } from 'vitest';
import { isLoopbackHost, isOnThisMachine } from './loopback.ts';

const hostOf = (url: string) => new URL(url).hostname;

describe('A host of this machine', () => {
  it.each(['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:1', 'http://LOCALHOST'])(
    'is %s by both rules',
    (url) => {
      expect([isLoopbackHost(hostOf(url)), isOnThisMachine(hostOf(url))]).toEqual([true, true]);
    },
  );

  it.each(['http://flow.localhost', 'http://127.9.9.9', 'http://127.255.255.254'])(
    'is %s by the wide rule alone',
    (url) => {
      expect([isLoopbackHost(hostOf(url)), isOnThisMachine(hostOf(url))]).toEqual([false, true]);
    },
  );

  it.each([
    'http://localhost.example',
    'http://127.0.0.1.example',
    'http://notlocalhost',
    'http://128.0.0.1',
    'http://0.0.0.0',
    'http://[::]',
    'http://[::ffff:127.0.0.1]',
  ])('is not %s', (url) => {
    expect([isLoopbackHost(hostOf(url)), isOnThisMachine(hostOf(url))]).toEqual([false, false]);
  });
});
