import { describe, expect, it } from 'vitest';
import { type FlowQuestion, selectFlow } from './flow.ts';
import type { Surroundings } from './session-environment.ts';

const DESKTOP: Surroundings = {
  isCi: false,
  isInteractive: true,
  remoteBecause: '',
  hasDisplay: true,
};
const SSH = { ...DESKTOP, remoteBecause: 'this is an SSH session', hasDisplay: false };
const NO_DISPLAY = { ...DESKTOP, hasDisplay: false };
const SCRIPT = { ...DESKTOP, isInteractive: false };
const CI = { ...SCRIPT, isCi: true };

function ask(question: Partial<FlowQuestion> & { surroundings: Surroundings }): string {
  const choice = selectFlow({
    requested: 'auto',
    hasCredentials: false,
    hasDeviceEndpoint: true,
    isBrowserRefused: false,
    isBrowserNamed: false,
    ...question,
  });
  if (choice.flow === 'none') return `none: ${choice.reason}`;
  if (choice.flow === 'pkce') return choice.opensBrowser ? 'pkce, opened' : 'pkce, printed';
  return choice.flow;
}

describe('--flow auto chooses by where it runs', () => {
  it.each<[string, Partial<FlowQuestion> & { surroundings: Surroundings }, string]>([
    ['a desktop', { surroundings: DESKTOP }, 'pkce, opened'],
    ['SSH', { surroundings: SSH }, 'device_code'],
    ['SSH with a forwarded display', { surroundings: { ...SSH, hasDisplay: true } }, 'device_code'],
    ['SSH, no device codes', { surroundings: SSH, hasDeviceEndpoint: false }, 'pkce, printed'],
    ['no display', { surroundings: NO_DISPLAY }, 'device_code'],
    [
      'no display, no device codes',
      { surroundings: NO_DISPLAY, hasDeviceEndpoint: false },
      'pkce, printed',
    ],
    [
      'no display, but a browser named',
      { surroundings: NO_DISPLAY, isBrowserNamed: true },
      'pkce, opened',
    ],
    ['--no-browser', { surroundings: DESKTOP, isBrowserRefused: true }, 'device_code'],
    [
      '--no-browser, no device codes',
      { surroundings: DESKTOP, isBrowserRefused: true, hasDeviceEndpoint: false },
      'pkce, printed',
    ],
    ['no terminal', { surroundings: SCRIPT }, 'none: no_terminal'],
    [
      'no terminal, but a browser named',
      { surroundings: SCRIPT, isBrowserNamed: true },
      'pkce, opened',
    ],
    ['CI, though a browser is named', { surroundings: CI, isBrowserNamed: true }, 'none: ci'],
    ['CI', { surroundings: CI }, 'none: ci'],
    ['CI with a terminal', { surroundings: { ...CI, isInteractive: true } }, 'none: ci'],
    ['credentials', { surroundings: DESKTOP, hasCredentials: true }, 'credentials'],
    ['credentials in CI', { surroundings: CI, hasCredentials: true }, 'credentials'],
  ])('%s', (_, question, expected) => {
    expect(ask(question)).toBe(expected);
  });
});

describe('a flow that is named is taken', () => {
  it.each<[string, Partial<FlowQuestion> & { surroundings: Surroundings }, string]>([
    ['pkce on a desktop', { requested: 'pkce', surroundings: DESKTOP }, 'pkce, opened'],
    ['pkce over SSH', { requested: 'pkce', surroundings: SSH }, 'pkce, printed'],
    [
      'pkce over SSH with a browser',
      { requested: 'pkce', surroundings: SSH, isBrowserNamed: true },
      'pkce, opened',
    ],
    [
      'pkce with --no-browser',
      { requested: 'pkce', surroundings: DESKTOP, isBrowserRefused: true },
      'pkce, printed',
    ],
    ['pkce without a terminal', { requested: 'pkce', surroundings: SCRIPT }, 'pkce, opened'],
    ['device on a desktop', { requested: 'device', surroundings: DESKTOP }, 'device_code'],
    ['device without a terminal', { requested: 'device', surroundings: SCRIPT }, 'device_code'],
    [
      'device where there is none',
      { requested: 'device', surroundings: DESKTOP, hasDeviceEndpoint: false },
      'none: no_device_endpoint',
    ],
    [
      'device despite credentials',
      { requested: 'device', surroundings: DESKTOP, hasCredentials: true },
      'device_code',
    ],
    ['pkce in CI is refused', { requested: 'pkce', surroundings: CI }, 'none: ci'],
    ['device in CI is refused', { requested: 'device', surroundings: CI }, 'none: ci'],
  ])('%s', (_, question, expected) => {
    expect(ask(question)).toBe(expected);
  });
});
