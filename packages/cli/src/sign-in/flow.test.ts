import { describe, expect, it } from 'vitest';
import { type FlowQuestion, selectFlow } from './flow.ts';
import type { SessionEnvironment } from './session-environment.ts';

const DESKTOP: SessionEnvironment = {
  isCi: false,
  isInteractive: true,
  remoteBecause: '',
  hasDisplay: true,
};
const SSH = { ...DESKTOP, remoteBecause: 'this is an SSH session', hasDisplay: false };
const NO_DISPLAY = { ...DESKTOP, hasDisplay: false };
const SCRIPT = { ...DESKTOP, isInteractive: false };
const CI = { ...SCRIPT, isCi: true };

function ask(question: Partial<FlowQuestion> & { sessionEnvironment: SessionEnvironment }): string {
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
  it.each<[string, Partial<FlowQuestion> & { sessionEnvironment: SessionEnvironment }, string]>([
    ['a desktop', { sessionEnvironment: DESKTOP }, 'pkce, opened'],
    ['SSH', { sessionEnvironment: SSH }, 'device_code'],
    [
      'SSH with a forwarded display',
      { sessionEnvironment: { ...SSH, hasDisplay: true } },
      'device_code',
    ],
    [
      'SSH, no device codes',
      { sessionEnvironment: SSH, hasDeviceEndpoint: false },
      'pkce, printed',
    ],
    ['no display', { sessionEnvironment: NO_DISPLAY }, 'device_code'],
    [
      'no display, no device codes',
      { sessionEnvironment: NO_DISPLAY, hasDeviceEndpoint: false },
      'pkce, printed',
    ],
    [
      'no display, but a browser named',
      { sessionEnvironment: NO_DISPLAY, isBrowserNamed: true },
      'pkce, opened',
    ],
    ['--no-browser', { sessionEnvironment: DESKTOP, isBrowserRefused: true }, 'device_code'],
    [
      '--no-browser, no device codes',
      { sessionEnvironment: DESKTOP, isBrowserRefused: true, hasDeviceEndpoint: false },
      'pkce, printed',
    ],
    ['no terminal', { sessionEnvironment: SCRIPT }, 'none: no_terminal'],
    [
      'no terminal, but a browser named',
      { sessionEnvironment: SCRIPT, isBrowserNamed: true },
      'pkce, opened',
    ],
    ['CI, though a browser is named', { sessionEnvironment: CI, isBrowserNamed: true }, 'none: ci'],
    ['CI', { sessionEnvironment: CI }, 'none: ci'],
    ['CI with a terminal', { sessionEnvironment: { ...CI, isInteractive: true } }, 'none: ci'],
    ['credentials', { sessionEnvironment: DESKTOP, hasCredentials: true }, 'credentials'],
    ['credentials in CI', { sessionEnvironment: CI, hasCredentials: true }, 'credentials'],
  ])('%s', (_, question, expected) => {
    expect(ask(question)).toBe(expected);
  });
});

describe('a flow that is named is taken', () => {
  it.each<[string, Partial<FlowQuestion> & { sessionEnvironment: SessionEnvironment }, string]>([
    ['pkce on a desktop', { requested: 'pkce', sessionEnvironment: DESKTOP }, 'pkce, opened'],
    ['pkce over SSH', { requested: 'pkce', sessionEnvironment: SSH }, 'pkce, printed'],
    [
      'pkce over SSH with a browser',
      { requested: 'pkce', sessionEnvironment: SSH, isBrowserNamed: true },
      'pkce, opened',
    ],
    [
      'pkce with --no-browser',
      { requested: 'pkce', sessionEnvironment: DESKTOP, isBrowserRefused: true },
      'pkce, printed',
    ],
    ['pkce without a terminal', { requested: 'pkce', sessionEnvironment: SCRIPT }, 'pkce, opened'],
    ['device on a desktop', { requested: 'device', sessionEnvironment: DESKTOP }, 'device_code'],
    [
      'device without a terminal',
      { requested: 'device', sessionEnvironment: SCRIPT },
      'device_code',
    ],
    [
      'device where there is none',
      { requested: 'device', sessionEnvironment: DESKTOP, hasDeviceEndpoint: false },
      'none: no_device_endpoint',
    ],
    [
      'device despite credentials',
      { requested: 'device', sessionEnvironment: DESKTOP, hasCredentials: true },
      'device_code',
    ],
    ['pkce in CI is refused', { requested: 'pkce', sessionEnvironment: CI }, 'none: ci'],
    ['device in CI is refused', { requested: 'device', sessionEnvironment: CI }, 'none: ci'],
  ])('%s', (_, question, expected) => {
    expect(ask(question)).toBe(expected);
  });
});
