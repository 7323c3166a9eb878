import { describe, expect, it } from 'vitest';
import { readSessionEnvironment } from './session-environment.ts';

const never = (): boolean => false;

describe('Where a command runs', () => {
  it.each(['true', '1', 'woodpecker'])('CI=%s is a build server', (CI) => {
    expect(readSessionEnvironment({ CI }, true, 'linux', never).isCi).toBe(true);
  });

  it.each(['', '0', 'false', 'FALSE'])('CI=%j is none', (CI) => {
    expect(readSessionEnvironment({ CI }, true, 'linux', never).isCi).toBe(false);
  });

  it.each([
    ['SSH_CONNECTION', '10.0.0.1 1 10.0.0.2 22'],
    ['SSH_CLIENT', '10.0.0.1 1 22'],
    ['SSH_TTY', '/dev/pts/1'],
    ['KUBERNETES_SERVICE_HOST', '10.0.0.1'],
    ['CODESPACES', 'true'],
    ['CLOUD_SHELL', 'true'],
  ])('%s means that the person is at another machine, and empty it does not', (name, value) => {
    expect(readSessionEnvironment({ [name]: value }, true, 'linux', never).remoteBecause).not.toBe(
      '',
    );
    expect(readSessionEnvironment({ [name]: '' }, true, 'linux', never).remoteBecause).toBe('');
  });

  it('/.dockerenv means a container, on Linux', () => {
    const isThere = (path: string): boolean => path === '/.dockerenv';
    const sessionEnvironment = readSessionEnvironment({}, true, 'linux', isThere);
    expect(sessionEnvironment.remoteBecause).toBe('this is a container');
    expect(readSessionEnvironment({}, true, 'linux', never).remoteBecause).toBe('');
    expect(readSessionEnvironment({}, true, 'darwin', isThere).remoteBecause).toBe('');
  });

  it.each<[NodeJS.Platform, Record<string, string>, boolean]>([
    ['linux', {}, false],
    ['linux', { DISPLAY: ':0' }, true],
    ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, true],
    ['linux', { WSL_DISTRO_NAME: 'Debian' }, true],
    ['linux', { DISPLAY: '' }, false],
    ['darwin', {}, true],
    ['win32', {}, true],
  ])('on %s with %j a display is there: %s', (platform, environment, expected) => {
    expect(readSessionEnvironment(environment, true, platform, never).hasDisplay).toBe(expected);
  });
});
