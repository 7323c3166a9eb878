import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { CONSOLE_SCRIPT, SIGN_IN_AGAIN_SNIPPET } from './console-script.ts';

const DOCUMENT = readFileSync(
  new URL('../../../../docs/single-page-apps.md', import.meta.url),
  'utf8',
);

describe('the console’s script', () => {
  it('begins with the very lines that docs/single-page-apps.md shows, at most ten', () => {
    const [, chapter = ''] = DOCUMENT.split('\n## The ten lines\n');
    const shown = /^```js\n(.*?)^```$/ms.exec(chapter)?.[1] ?? 'nothing is shown';
    expect(SIGN_IN_AGAIN_SNIPPET).toBe(shown);
    expect(CONSOLE_SCRIPT.startsWith(shown)).toBe(true);
    expect(shown.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
  });

  it('never reaches into the window that was opened, or for the one that opened it', () => {
    expect(CONSOLE_SCRIPT).not.toContain('opener');
    expect(CONSOLE_SCRIPT).not.toMatch(/popup\??\./);
    expect(CONSOLE_SCRIPT).not.toMatch(/(?<!channel)\.postMessage/);
  });
});

/** A page that has nothing but the ten lines, and who works in it. */
async function openPage(account: string | undefined) {
  const said: string[] = [];
  const seen: string[] = [];
  const opened: string[] = [];
  const page = runInNewContext(
    `${SIGN_IN_AGAIN_SNIPPET}; ({ readSession, signInAgain, hear: (data) => channel.onmessage({ data }) })`,
    {
      fetch: async () => ({
        json: async () => ({ authenticated: account !== undefined, account }),
      }),
      open: (url: string) => opened.push(url),
      BroadcastChannel: class {
        postMessage({ type }: { type: string }) {
          said.push(type);
        }
      },
      onSignedIn: () => seen.push('signed in'),
      onOtherAccount: () => seen.push('other account'),
    },
  ) as {
    readSession: () => Promise<unknown>;
    signInAgain: () => unknown;
    hear: (data: unknown) => void;
  };
  await page.readSession();
  const hear = (who: string) => page.hear({ type: 'sallyport:signed-in', account: who });
  return { ...page, said, seen, opened, hear, hearAnything: page.hear };
}

describe('the ten lines', () => {
  it('have the window closed in which the same person signed in, once', async () => {
    const { signInAgain, hear, said, seen, opened } = await openPage('ada');
    signInAgain();
    hear('ada');
    hear('ada');
    expect(said).toEqual(['sallyport:go-on']);
    expect(seen).toEqual(['signed in', 'signed in']);
    expect(opened).toEqual(['/login?mode=popup']);
  });

  it('have the window warn when another person signed in, and closed when the first person signs in again', async () => {
    const { signInAgain, hear, said, seen } = await openPage('ada');
    signInAgain();
    hear('grace');
    hear('ada');
    expect(said).toEqual(['sallyport:other-account', 'sallyport:go-on']);
    expect(seen).toEqual(['other account', 'signed in']);
  });

  it('take the first person who signs in where no account was known', async () => {
    const { signInAgain, hear, said } = await openPage(undefined);
    signInAgain();
    hear('grace');
    signInAgain();
    hear('ada');
    expect(said).toEqual(['sallyport:go-on', 'sallyport:other-account']);
  });

  it('answer no window that the page has not asked for, and follow it all the same', async () => {
    const { hear, said, seen } = await openPage('ada');
    hear('ada');
    hear('grace');
    expect(said).toEqual([]);
    expect(seen).toEqual(['signed in', 'other account']);
  });

  it('do not take the answers of other pages for a sign-in', async () => {
    const { signInAgain, hearAnything, said, seen } = await openPage('ada');
    signInAgain();
    for (const type of ['sallyport:go-on', 'sallyport:other-account', undefined])
      hearAnything({ type, account: 'ada' });
    expect([...said, ...seen]).toEqual([]);
  });
});
