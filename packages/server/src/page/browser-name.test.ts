import { withoutUnprintable } from '@sallyport/protocol';
import { anyText } from '@sallyport/testing/arbitraries/any-text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameBrowser } from './browser-name.ts';

const KHTML = 'AppleWebKit/537.36 (KHTML, like Gecko)';

describe('nameBrowser', () => {
  it.each([
    [
      'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      'Firefox 140 on Linux',
    ],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KHTML} Chrome/138.0.0.0 Safari/537.36`,
      'Chrome 138 on Windows',
    ],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KHTML} Chrome/138.0.0.0 Safari/537.36 Edg/138.0.3351.55`,
      'Edge 138 on Windows',
    ],
    [
      `Mozilla/5.0 (X11; Linux x86_64) ${KHTML} Chrome/137.0.0.0 Safari/537.36 OPR/122.0.0.0`,
      'Opera 122 on Linux',
    ],
    [
      `Mozilla/5.0 (X11; Linux x86_64) ${KHTML} HeadlessChrome/138.0.0.0 Safari/537.36`,
      'Headless Chrome 138 on Linux',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
      'Safari 18 on macOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
      'Safari 18 on iOS',
    ],
    [
      'Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/138.0.7204.53 Mobile/15E148 Safari/604.1',
      'Chrome 138 on iPadOS',
    ],
    [
      'Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0',
      'Firefox 140 on Android',
    ],
    [
      `Mozilla/5.0 (Linux; Android 14; SM-S918B) ${KHTML} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
      'Samsung Internet 28 on Android',
    ],
    [
      `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${KHTML} Chrome/138.0.0.0 Safari/537.36`,
      'Chrome 138 on ChromeOS',
    ],
    ['Firefox/140.0', 'Firefox 140'],
  ])('%s is %s', (userAgent, name) => {
    expect(nameBrowser(userAgent)).toBe(name);
  });

  it.each([
    ['curl/8.14.1', 'curl/8.14.1'],
    ['', 'Unknown browser'],
    [' \u202e\u0007 ', 'Unknown browser'],
    ['<b>one\u001b[31m  two</b>', '<b>one [31m two</b>'],
    ['Firefox/', 'Firefox/'],
    ['NotFirefox/140', 'NotFirefox/140'],
    ['x'.repeat(60), 'x'.repeat(60)],
    ['x'.repeat(61), `${'x'.repeat(59)}…`],
    ['😀'.repeat(31), `${'😀'.repeat(29)}…`],
  ])('what is not known is shown as it was said, in one short line: %j', (userAgent, name) => {
    expect(nameBrowser(userAgent)).toBe(name);
  });

  it('is short, visible and never empty, whatever was said', () => {
    fc.assert(
      fc.property(anyText(200), (userAgent) => {
        const name = nameBrowser(userAgent);
        expect(name).not.toBe('');
        expect(name.length).toBeLessThanOrEqual(60);
        expect(withoutUnprintable(name)).toBe(name);
      }),
    );
  });
});
