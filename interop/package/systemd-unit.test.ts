import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TemporaryFolder, temporaryFolder } from '../../conformance/wire/process.ts';
import RUNTIME from '../../packages/cli/bin/runtime-options.json' with { type: 'json' };
import { STOP_MS } from '../../packages/cli/src/serve/worker-slot.ts';
import { findPart, requirePart } from '../parts.ts';
import { readUnit, startCommand, startEnvironment, UNIT_FILE } from './systemd-unit.ts';

const CHECKOUT = new URL('../..', import.meta.url).pathname;
const ANALYZE = findPart('systemd-analyze');
/** Tenths: what systemd calls OK. The rest of ten is network, users of the machine and the like. */
const EXPOSURE_MOST = 20;
const TEXT = readFileSync(UNIT_FILE, 'utf8');
const execute = promisify(execFile);

describe.skipIf(ANALYZE.isLeftOut)('systemd-analyze: the unit', () => {
  let folder: TemporaryFolder;

  beforeAll(() => {
    folder = temporaryFolder();
  });
  afterAll(() => folder.remove());

  /** Asks about a text as the unit, with the Node of these tests. */
  const analyze = async (text: string, ...args: readonly string[]) => {
    const file = join(folder.path, 'sallyport.service');
    writeFileSync(file, text.replace('/usr/bin/node', process.execPath));
    const { code = 0, stderr } = (await execute(requirePart(ANALYZE), [...args, file]).catch(
      (error: { readonly code: number; readonly stderr: string }) => error,
    )) as { readonly code?: number; readonly stderr: string };
    return { code, stderr };
  };

  it('is valid', async () => {
    expect(await analyze(TEXT, 'verify')).toEqual({ code: 0, stderr: '' });
  });

  it('is not valid with a setting that is misspelled', async () => {
    const { stderr } = await analyze(TEXT.replace('NoNewPrivileges', 'NoNewPrivilege'), 'verify');
    expect(stderr).toMatch(/Unknown key .*NoNewPrivilege'/);
  });

  it('exposes little of the machine', async () => {
    const options = ['security', '--offline=yes', `--threshold=${EXPOSURE_MOST}`];
    expect(await analyze(TEXT, ...options)).toMatchObject({ code: 0 });
  });

  it('would expose too much with capabilities', async () => {
    const options = ['security', '--offline=yes', `--threshold=${EXPOSURE_MOST}`];
    const text = TEXT.replace(/^CapabilityBoundingSet=$/m, '');
    expect((await analyze(text, ...options)).code).not.toBe(0);
  });
});

describe('The unit of systemd', () => {
  const unit = readUnit();

  it('gives the runtime all options that `serve` would start itself again for, and no others', () => {
    const [, ...args] = startCommand(unit);
    const file = args.findIndex((arg) => arg.endsWith('/bin/sallyport.js'));
    expect(args.slice(0, file)).toEqual(RUNTIME.options);
    expect(args[file + 1]).toBe('serve');
    expect(startEnvironment(unit, {})).toMatchObject(RUNTIME.environment);
  });

  it('lets the service take as long as it needs to stop', () => {
    expect(Number(unit.get('TimeoutStopSec')?.[0]) * 1_000).toBeGreaterThan(STOP_MS);
  });

  it('allows memory to become executable, without which V8 cannot compile', () => {
    expect(unit.get('MemoryDenyWriteExecute')).toEqual(['no']);
  });

  it('stands in one place: no page repeats it', () => {
    const pages = [
      'README.md',
      ...readdirSync(join(CHECKOUT, 'docs')).map((name) => `docs/${name}`),
    ];
    const repeating = pages
      .filter((page) => page.endsWith('.md'))
      .filter((page) => readFileSync(join(CHECKOUT, page), 'utf8').includes('[Service]'));
    expect(repeating).toEqual([]);
  });
});
