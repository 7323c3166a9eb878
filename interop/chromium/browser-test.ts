/**
 * A test with a browser: the worker's plane, the worker's Chromium, and visitors of its own.
 *
 * @module
 */

import type { BrowserContextOptions } from 'playwright-core';
import { expect, it, type TestAPI } from 'vitest';
import { openPlane, type SharedPlane } from './shared-plane.ts';
import { Visitor } from './visitor.ts';

/** What a test gets by naming it; what it does not name is not made. */
export interface BrowserTest {
  readonly plane: SharedPlane;
  /** A person with a browser context of their own. */
  readonly visitor: Visitor;
  /** Makes more of them. */
  readonly arrive: (options?: BrowserContextOptions) => Promise<Visitor>;
}

/** After the test every visitor leaves. A complaint about one of their pages fails the test. */
export const browserTest: TestAPI<BrowserTest> = it.extend<BrowserTest>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads in the pattern what a fixture depends on.
  plane: async ({}, use) => use(await openPlane()), // oxlint-disable-line no-empty-pattern -- the same
  visitor: async ({ arrive }, use) => use(await arrive()),
  arrive: async ({ onTestFinished }, use) => {
    const visitors: Visitor[] = [];
    onTestFinished(async () => {
      await Promise.all(visitors.map((visitor) => visitor.leave()));
      expect(visitors.flatMap((visitor) => visitor.complaints())).toEqual([]);
    });
    await use(async (options) => {
      const visitor = await Visitor.arrive(options);
      visitors.push(visitor);
      return visitor;
    });
  },
});
