import { readFileSync } from 'node:fs';
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

  it('never reaches for the window that was opened, or the one that opened it', () => {
    expect(CONSOLE_SCRIPT).not.toContain('opener');
    expect(CONSOLE_SCRIPT).not.toContain('postMessage');
  });
});
