/**
 * Every mistake of docs/troubleshooting.md is made here, and the page is what is said of them. `npx vitest run
 * conformance/mistakes --update` writes the page.
 *
 * @module
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCommandHost } from '../cli/command-host.ts';
import { type Service, startHostedService } from '../wire/platform.ts';
import { listBearerMistakes } from './bearer-mistakes.ts';
import { ISSUER_MISTAKES } from './issuer-mistakes.ts';
import type { Said } from './mistake.ts';
import { listSignInMistakes } from './sign-in-mistakes.ts';
import { listStartMistakes } from './start-mistakes.ts';
import { type Chapter, writeTroubleshootingPage } from './troubleshooting-page.ts';

const host = createCommandHost();
let service: Service;
beforeAll(async () => {
  service = await startHostedService({}, [], undefined, ['access:', '  tenants: [ours]']);
});
afterAll(async () => {
  host.stop();
  await service.stop();
});

const CHAPTERS: readonly Chapter[] = [
  { title: 'A person cannot sign in', mistakes: listSignInMistakes(() => service) },
  { title: 'The identity provider cannot be used', mistakes: ISSUER_MISTAKES },
  { title: 'A program is refused', mistakes: listBearerMistakes(() => service) },
  { title: 'The service does not start, or warns', mistakes: listStartMistakes(host) },
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
