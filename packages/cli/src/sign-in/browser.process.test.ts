import { mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { openBrowser, parseBrowserCommand, selectBrowserCommand } from './browser.ts';

describe('A browser command is split into words, and no shell sees it', () => {
  it.each([
    ['firefox', ['firefox']],
    ['  firefox   -P work ', ['firefox', '-P', 'work']],
    ['firefox -P "my work"', ['firefox', '-P', 'my work']],
    ["'/opt/my browser/run' --new=%s", ['/opt/my browser/run', '--new=%s']],
    ['open -a"Google Chrome"', ['open', '-aGoogle Chrome']],
    ['x $(id) ; rm', ['x', '$(id)', ';', 'rm']],
  ])('%j', (text, words) => {
    expect(parseBrowserCommand(text)).toEqual(words);
  });

  it.each(['', '   ', '"open', "it's"])('refuses %j', (text) => {
    expect(parseBrowserCommand(text)).toBeUndefined();
  });

  it('any words come out as they went in when they are quoted', () => {
    const word = fc.string({ minLength: 1 }).filter((text) => !/["]/.test(text));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
        expect(parseBrowserCommand(words.map((each) => `"${each}"`).join(' '))).toEqual(words);
      }),
    );
  });
});

describe('What opens a page', () => {
  it.each<[NodeJS.Platform, Record<string, string>, string[]]>([
    ['linux', {}, ['xdg-open']],
    ['linux', { BROWSER: 'firefox:lynx' }, ['firefox']],
    ['linux', { BROWSER: 'chromium --app=%s' }, ['chromium', '--app=%s']],
    ['linux', { WSL_DISTRO_NAME: 'Debian' }, ['wslview']],
    ['darwin', {}, ['open']],
    ['win32', {}, ['rundll32', 'url.dll,FileProtocolHandler']],
  ])('on %s with %j', (platform, environment, expected) => {
    expect(selectBrowserCommand(undefined, environment, platform)).toEqual(expected);
    expect(selectBrowserCommand(['mine'], environment, platform)).toEqual(['mine']);
  });
});

describe('Opening a page', () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  /** Runs a recorder in the place of a browser; gives back its arguments and variables. */
  async function record(
    url: string,
    args: readonly string[],
    environment: Record<string, string>,
  ): Promise<{ argv: string[]; env: Record<string, string> }> {
    const folder = mkdtempSync(join(tmpdir(), 'browser-'));
    folders.push(folder);
    const program = join(folder, 'recorder.mjs');
    writeFileSync(
      program,
      `import { renameSync, writeFileSync } from 'node:fs';
       writeFileSync(${JSON.stringify(join(folder, 'draft'))}, JSON.stringify({ argv: process.argv.slice(2), env: process.env }));
       renameSync(${JSON.stringify(join(folder, 'draft'))}, ${JSON.stringify(join(folder, 'seen'))});`,
    );
    // It watches from here on: the promises' one begins with the first event that is waited for.
    const watcher = watch(folder);
    const isSeen = new Promise<void>((resolve) => {
      watcher.on('change', (_event, name) => name === 'seen' && resolve());
    });
    expect(await openBrowser(url, [process.execPath, program, ...args], environment)).toBe(true);
    await isSeen;
    watcher.close();
    return JSON.parse(readFileSync(join(folder, 'seen'), 'utf8')) as never;
  }

  it('gives the address as one argument, after the others or in their place', async () => {
    const url = 'https://idp.example/authorize?a=1&b=$(id)%20%3B';
    expect((await record(url, ['-x'], {})).argv).toEqual(['-x', url]);
    expect((await record(url, ['--app=%s', '-y'], {})).argv).toEqual([`--app=${url}`, '-y']);
  });

  it('keeps credentials out of its environment, and nothing else', async () => {
    const { env } = await record('https://idp.example/', [], {
      CORE_CREDENTIALS_CLIENT_SECRET: 'canary-secret',
      EAGER_API_KEY: 'canary-key',
      GITHUB_TOKEN: 'canary-token',
      DISPLAY: ':0',
    });
    expect(JSON.stringify(env)).not.toContain('canary');
    expect(env['DISPLAY']).toBe(':0');
  });

  it.each(['file:///etc/passwd', 'javascript:alert(1)', '--version', ''])(
    'starts nothing for %j',
    async (url) => {
      expect(await openBrowser(url, ['true'], {})).toBe(false);
    },
  );

  it('says when the program cannot be started', async () => {
    expect(await openBrowser('https://idp.example/', ['/nowhere/browser'], {})).toBe(false);
  });
});
