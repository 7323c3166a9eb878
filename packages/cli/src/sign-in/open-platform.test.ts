import { describe, expect, it } from 'vitest';
import { findFolders } from '../profile/folders.ts';
import type { PlatformOptions } from '../profile/sources.ts';
import { openPlatform } from './open-platform.ts';

const STDIO = {
  out: () => {},
  error: () => {},
  cleanse: (text: string) => text,
  conceal: () => {},
  isTerminal: false,
  isInteractive: false,
};

async function open(options: PlatformOptions, text?: string, environment = {}) {
  const userFile = text === undefined ? undefined : { path: '/home/ada/c.yaml', text };
  const folders = findFolders(environment, '');
  const sources = { options, environment, folders, userFile, projectFile: undefined, problem: '' };
  const opened = await openPlatform(sources, STDIO);
  return opened.ok ? opened.value : opened.error;
}

describe('A platform that cannot be opened', () => {
  it('the first time says what to do once, and nothing about keys of a file that is not there', async () => {
    expect(await open({})).toMatchObject({
      description: 'No platform is set up yet.',
      hint: expect.stringContaining('sallyport login --endpoint https://'),
      exitCode: 1,
    });
  });

  it('with something else wrong besides says that too', async () => {
    const failure = await open({}, undefined, { CORE_CREDENTIALS_AUTH_MODE: 'magic' });
    expect(failure).toMatchObject({ description: expect.stringContaining('magic') });
  });

  it('calls an option by its own name, and a key of a file by file, line and key', async () => {
    const option = await open({ endpoint: 'what ever' });
    expect(option).toMatchObject({ description: expect.stringMatching(/^--endpoint: found/) });
    const key = await open({}, 'admin:\n  endpoint: what ever\n');
    expect(key).toMatchObject({
      description: expect.stringMatching(/^\/home\/ada\/c\.yaml:2: admin\.endpoint: found/),
    });
  });

  it('one that can be opened names the command that signs in to it, as the platform was named', async () => {
    const endpoint = 'https://p.example.com';
    expect(await open({ endpoint })).toMatchObject({
      endpoint,
      loginCommand: `sallyport login --endpoint ${endpoint}`,
    });
    expect(await open({}, `admin:\n  endpoint: ${endpoint}\n`)).toMatchObject({
      endpoint,
      loginCommand: 'sallyport login',
    });
  });
});
