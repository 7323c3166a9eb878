/**
 * A browser's name as a person knows it, from what the browser says of itself.
 *
 * @module
 */

import { withoutUnprintable } from '@sallyport/protocol';

/** Most browsers also name those they want to be taken for: the first match counts. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\/(\d{1,4})/, 'Edge'],
  [/\bOPR\/(\d{1,4})/, 'Opera'],
  [/\bVivaldi\/(\d{1,4})/, 'Vivaldi'],
  [/\bSamsungBrowser\/(\d{1,4})/, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\/(\d{1,4})/, 'Firefox'],
  [/\bHeadlessChrome\/(\d{1,4})/, 'Headless Chrome'],
  [/\b(?:Chrome|CriOS)\/(\d{1,4})/, 'Chrome'],
  [/\bVersion\/(\d{1,4})\S* (?:Mobile\/\S+ )?Safari\//, 'Safari'],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bWindows NT\b/, 'Windows'],
  [/\biPad\b/, 'iPadOS'],
  [/\biPhone\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

const OTHER_MAX_LENGTH = 60;

/**
 * Names a browser: `Firefox 140 on Linux`. What is not known is shown as it was said, shortened, in one
 * line of visible characters; it is still untrusted text.
 *
 * A program can claim any name: this is for a person to recognise a session by, and decides nothing.
 *
 * @param userAgent - The `User-Agent` header. Untrusted; empty when unknown.
 */
export function nameBrowser(userAgent: string): string {
  for (const [pattern, name] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version === undefined) continue;
    const system = SYSTEMS.find(([mark]) => mark.test(userAgent))?.[1];
    return `${name} ${version}${system === undefined ? '' : ` on ${system}`}`;
  }
  const said = withoutUnprintable(userAgent).replaceAll(/ +/g, ' ').trim();
  if (said === '') return 'Unknown browser';
  if (said.length <= OTHER_MAX_LENGTH) return said;
  // Not in the middle of a surrogate pair.
  return `${said.slice(0, OTHER_MAX_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
