/**
 * Every mistake of docs/troubleshooting.md is made here, and the page is what is said of them. `npx vitest run
 * conformance/mistakes --update` writes the page.
 *
 * @module
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startHostedService } from '../wire/platform.ts';
import { ISSUER_MISTAKES } from './issuer-mistakes.ts';
import type { Said } from './mistake.ts';
import { listSignInMistakes } from './sign-in-mistakes.ts';
import { type Chapter, writeTroubleshootingPage } from './troubleshooting-page.ts';

let service: Service;
beforeAll(async () => {
  service = await startHostedService({}, [], undefined, ['access:', '  tenants: [ours]']);
});
afterAll(() => service.stop());

const CHAPTERS: readonly Chapter[] = [
  { title: 'A person cannot sign in', mistakes: listSignInMistakes(() => service) },
  { title: 'The identity provider cannot be used', mistakes: ISSUER_MISTAKES },
];
const said = new Map<string, Said>();

describe.each(CHAPTERS)('$title', ({ mistakes }) => {
  it.each(mistakes)('$name', async ({ name, make }) => {
    const shown = await make();
    said.set(name, shown);
    expect(shown.line).not.toBe('');
  });
});

it('docs/troubleshooting.md says of each mistake what was said here', async () => {
  const page = writeTroubleshootingPage(CHAPTERS, said);
  await expect(page).toMatchFileSnapshot('../../docs/troubleshooting.md');
});
