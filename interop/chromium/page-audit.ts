/**
 * What can be measured of a page as a person sees it.
 *
 * @module
 */

import type { Page } from 'playwright-core';

/** Measurements of the page as it is shown now. */
export interface PageAudit {
  /** Pixels the page is wider than its window. */
  readonly overflow: number;
  readonly topHeadings: number;
  /** Text with the least contrast to what lies behind it, as a ratio (WCAG 2.2 section 1.4.3). */
  readonly text: { readonly contrast: number; readonly sample: string };
  /** The least contrast of a field's border to what lies around it (section 1.4.11). */
  readonly borders: number;
  /** Buttons, fields and links that stand alone and are lower or narrower than 24 px (section 2.5.8). */
  readonly smallTargets: readonly string[];
}

const MEASURE = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = channels(color).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ratio = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const behind = (element) => {
    if (element === null) return 'rgb(255, 255, 255)';
    const color = getComputedStyle(element).backgroundColor;
    return channels(color)[3] === 0 ? behind(element.parentElement) : color;
  };
  const isShown = (element) => element.getClientRects().length > 0;
  const text = { contrast: 21, sample: '' };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const sample = walker.currentNode.data.trim();
    if (sample === '' || !isShown(element)) continue;
    const contrast = ratio(getComputedStyle(element).color, behind(element));
    if (contrast < text.contrast) Object.assign(text, { contrast, sample });
  }
  const fields = [...document.querySelectorAll('input:not([type=hidden]), textarea')];
  const targets = [...document.querySelectorAll('button, .act, input:not([type=hidden])')];
  return {
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    topHeadings: document.querySelectorAll('h1').length,
    text,
    borders: Math.min(21, ...fields.map((field) =>
      ratio(getComputedStyle(field).borderTopColor, behind(field.parentElement)))),
    smallTargets: targets.filter(isShown).filter((target) => {
      const { width, height } = target.getBoundingClientRect();
      return Math.min(width, height) < 24;
    }).map((target) => target.textContent),
  };
})()`;

/** Measures the page; its own content security policy does not matter here. */
export function auditPage(page: Page): Promise<PageAudit> {
  return page.evaluate<PageAudit>(MEASURE);
}
