/**
 * The values and commands of docs/ingress.md.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Service } from '../../conformance/wire/platform.ts';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { CHECKOUT } from '../../tools/build/layout.ts';
import { findPart, requirePart } from '../parts.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import {
  HOST,
  IS_LEFT_OUT,
  ORIGIN,
  type Site,
  startPlatformService,
  startSite,
} from './ingress-site.ts';

const run = promisify(execFile);
const CURL = findPart('curl');

const page = readFileSync(join(CHECKOUT, 'docs/ingress.md'), 'utf8');
const [values = ''] = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text);
const [commands = ''] = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, text]) => text);
/** Each command, the status it should answer with, and what its `Location` should end with. */
const calls = [...commands.matchAll(/^(curl .*?) +# \d+: (\d{3})(?:, (\/\S+))?.*$/gm)].map(
  ([, command = '', status = '', location = '']) => [command, status, location] as const,
);

describe.skipIf(IS_LEFT_OUT || CURL.isLeftOut)('docs/ingress.md', () => {
  const folder = temporaryFolder();
  let service: Service;
  let site: Site;
  beforeAll(async () => {
    await programPath('helm');
    const { publicUrl, ingress } = parse(values) as {
      readonly publicUrl: string;
      readonly ingress: Readonly<Record<string, unknown>>;
    };
    expect(publicUrl).toBe(ORIGIN);
    service = await startPlatformService();
    site = await startSite({ ingress, service: service.url });
    writeFileSync(join(folder.path, 'ca.crt'), site.place.ca);
  }, BUILD_TIMEOUT_MS);
  afterAll(async () => {
    await site.stop();
    await service.stop();
    folder.remove();
  });

  it('has commands, each with what it answers', () => {
    expect(calls.length).toBe(commands.match(/^curl /gm)?.length);
    expect(calls.length).toBeGreaterThan(5);
  });

  it.each(calls)('with its own values: %s answers %s %s', async (command, status, location) => {
    const { stdout } = await run(
      'bash',
      ['-euc', `url=${ORIGIN}; ${command}`.replace(/curl/, '"$CURL" --connect-to "$PLACE"')],
      {
        env: {
          CURL: requirePart(CURL),
          PLACE: `${HOST}:443:127.0.0.1:${site.place.port}`,
          CURL_CA_BUNDLE: join(folder.path, 'ca.crt'),
          NO_PROXY: '*',
        },
      },
    );
    expect(/^HTTP\/[\d.]+ (\d{3})/.exec(stdout)?.[1]).toBe(status);
    expect(/^location: (.*)\r$/im.exec(stdout)?.[1]?.endsWith(location) ?? location === '').toBe(
      true,
    );
  });
});
