import { symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterEach, describe, expect, it } from 'vitest';
import { ADA, FIREFOX, signIn } from '../cli/operator.ts';
import { type Service, startService } from '../wire/platform.ts';
import { temporaryFolder } from '../wire/process.ts';
import { PATIENCE } from '../wire/workers.ts';
import { scrape } from './scrape.ts';

const WAITING = 'sallyport_audit_lines_waiting';
const WRITTEN = 'sallyport_audit_lines_total';
const DIVERTED = 'sallyport_audit_lines_diverted_total';

describe('An audit stream whose disk is full', () => {
  let service: Service | undefined;
  let remove: (() => void) | undefined;
  afterEach(async () => {
    await service?.stop();
    service = undefined;
    remove?.();
  });

  async function startFull(workers: string) {
    const folder = temporaryFolder();
    remove = () => folder.remove();
    const path = join(folder.path, 'audit.jsonl');
    symlinkSync('/dev/full', path);
    const port = await freePort();
    service = await startService({
      SALLYPORT_AUDIT_FILE: path,
      SALLYPORT_METRICS_PORT: String(port),
      SALLYPORT_WORKERS: workers,
    });
    return { service, path, port };
  }
  const waitingAt = async (port: number) => (await scrape(port)).sum(WAITING);

  it('shows in a scrape how many lines wait in all processes, and that no line is diverted', async () => {
    const { service: running, port } = await startFull('2');
    // The first process's own line, of the configuration it began with.
    await expect.poll(() => waitingAt(port), PATIENCE).toBe(1);
    await signIn(running, ADA, FIREFOX);
    const now = await scrape(port);
    expect(now.sum(WRITTEN)).toBeGreaterThan(1);
    expect(now.sum(WAITING)).toBe(1 + now.sum(WRITTEN));
    expect(now.sum(DIVERTED)).toBe(0);
  });

  it('shows none any more when there is room', async () => {
    const { service: running, path, port } = await startFull('1');
    await expect.poll(() => waitingAt(port), PATIENCE).toBe(1);
    unlinkSync(path);
    writeFileSync(path, '');
    // A device is no file that could have been moved: it is left when that is asked for.
    process.kill(running.running.pid, 'SIGHUP');
    await expect.poll(() => waitingAt(port), PATIENCE).toBe(0);
  });
});
