/**
 * The configuration is changed while 3,000 requests a second are answered.
 *
 * @module
 */

import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Service, startService } from '../wire/platform.ts';
import {
  asSessions,
  configure,
  expectNoneFailed,
  linesOf,
  ready,
  signIn,
  told,
  underLoad,
} from './under-load.ts';

const BOTH = 'access: {groups: [core, ops]}';

describe('A reload in one process', () => {
  let service: Service;
  afterEach(() => service.stop());

  async function begin(file: readonly string[] = [BOTH]): Promise<readonly [string, string]> {
    service = await startService({}, [], {}, undefined, file);
    await ready(service);
    return [
      await signIn(service, { groups: ['core'] }),
      await signIn(service, { groups: ['ops'] }),
    ];
  }

  it('reload under 3,000 requests a second: 0 failed', async () => {
    const cookies = await begin();
    const { pid } = service.running;
    const report = await underLoad(service.url, asSessions(cookies), async () => {
      for (let count = 2; count <= 5; count += 1) {
        process.kill(pid, 'SIGHUP');
        await told(service, 'configuration_loaded', count);
      }
      configure(service, [BOTH, 'rateLimit: {perMinute: 601}']);
      await told(service, 'configuration_loaded', 6);
    });
    expectNoneFailed('reload', report);
    const loaded = linesOf(service, 'configuration_loaded');
    expect(loaded.map(({ reason, changed }) => [reason, changed])).toEqual([
      ['started', undefined],
      ...Array.from({ length: 4 }, () => ['signal', []]),
      ['file_changed', ['rateLimit.perMinute']],
    ]);
    // Nobody had to connect again.
    expect(report.opened).toBeLessThanOrEqual(32);
  });

  it('a bad configuration under 3,000 requests a second: 0 failed, the old one stays, and the log says file, line and key', async () => {
    const cookies = await begin();
    const report = await underLoad(service.url, asSessions(cookies), async () => {
      configure(service, [BOTH, 'session:', '  idleTimeout: whenever', 'acess: {groups: []}']);
      await told(service, 'configuration_refused', 1);
      process.kill(service.running.pid, 'SIGHUP');
      await told(service, 'configuration_refused', 2);
    });
    expectNoneFailed('bad configuration', report);
    const file = join(service.state, 'sallyport.yaml');
    const problem = expect.stringMatching(
      new RegExp(`^${file}:3: session.idleTimeout: found "whenever", .*; ${file}:4: acess: .*`),
    ) as unknown;
    expect(linesOf(service, 'configuration_refused')).toMatchObject([
      { reason: 'file_changed', file, problem },
      { reason: 'signal', file, problem },
    ]);
    expect(linesOf(service, 'configuration_kept')).toMatchObject([{ level: 'error', problem }, {}]);
    expect(linesOf(service, 'configuration_loaded')).toHaveLength(1);
  });
});
