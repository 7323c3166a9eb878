import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_RECIPE, renderNginxRecipe, VERDICT_FOLDER } from '@sallyport/recipes/nginx';
import { Command, CommanderError } from 'commander';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { addListedCommand } from './command-list.ts';
import { declareRecipe } from './recipe.ts';

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'recipe-')));
afterAll(() => rmSync(scratch, { recursive: true }));
afterEach(() => {
  process.exitCode = undefined;
});

/** The command in this process: what it writes, and the exit code. */
async function run(...args: readonly string[]) {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const program = new Command('sallyport').exitOverride().configureOutput({
    writeOut: (text) => stdout.push(text),
    writeErr: (text) => stderr.push(text),
  });
  await declareRecipe(addListedCommand(program, 'recipe'), {
    out: (line) => stdout.push(`${line}\n`),
    error: (line) => stderr.push(`${line}\n`),
    isTerminal: false,
    isInteractive: false,
    conceal: () => {},
    cleanse: (text) => text,
  });
  let status: string | number | null | undefined;
  try {
    await program.parseAsync(['recipe', 'nginx', ...args], { from: 'user' });
    status = process.exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    status = error.exitCode;
  }
  return { status, stdout: stdout.join(''), stderr: stderr.join('') };
}
/** Where nothing is yet, nor the folder above. */
const freshFolder = () => join(scratch, randomUUID(), 'sallyport');
const folder = (name: string, mode: number) => {
  const path = join(scratch, name);
  mkdirSync(path);
  chmodSync(path, mode);
  return path;
};
const read = (path: string) =>
  new Map(readdirSync(path).map((name) => [name, readFileSync(join(path, name), 'utf8')]));

describe('sallyport recipe nginx', () => {
  it('makes the folder, writes what the options say, and says how much', async () => {
    const out = freshFolder();
    const { status, stdout, stderr } = await run(
      ...['--out', out, '--claim', 'groups', '--claim', 'department'],
      ...['--bearer-header', 'x-own-authorization', '--strip-header', 'x-internal'],
    );
    const files = renderNginxRecipe({
      ...DEFAULT_RECIPE,
      claims: ['groups', 'department'],
      bearerHeaders: ['x-own-authorization'],
      stripHeaders: ['x-internal'],
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toBe(
      `${files.size} files written to ${out}\nnext: nginx -t, and nginx -s reload\n`,
    );
    expect(read(out)).toEqual(files);
  });

  it('refuses to replace files of another content, and replaces them where it is asked to', async () => {
    const out = freshFolder();
    mkdirSync(out, { recursive: true });
    writeFileSync(join(out, 'routes.conf'), 'by hand');
    writeFileSync(join(out, 'response-headers.conf'), 'own');
    const refused = await run('--out', out);
    expect(refused).toEqual({
      status: 1,
      stdout: '',
      stderr: `sallyport: ${out} has files of another content: routes.conf; nothing was written\n  Give --overwrite to replace them.\n`,
    });
    expect(read(out)).toEqual(
      new Map([
        ['routes.conf', 'by hand'],
        ['response-headers.conf', 'own'],
      ]),
    );
    expect(await run('--out', out, '--overwrite')).toMatchObject({ status: 0, stderr: '' });
    expect(read(out)).toEqual(
      new Map([...renderNginxRecipe(DEFAULT_RECIPE), ['response-headers.conf', 'own']]),
    );
  });

  it('leaves files alone that have the content already', async () => {
    const out = freshFolder();
    await run('--out', out);
    const times = () => readdirSync(out).map((name) => statSync(join(out, name)).mtimeMs);
    const before = times();
    const { status, stdout } = await run('--out', out);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: `0 files written to ${out}, ${before.length} unchanged\n`,
    });
    expect(times()).toEqual(before);
  });

  it('removes files that only other options have, not without --overwrite', async () => {
    const out = freshFolder();
    const socket = 'unix:/run/sallyport/sallyport.sock';
    expect(await run('--out', out, '--upstream', socket)).toMatchObject({ status: 0, stderr: '' });
    const upstream = read(out).get('upstream.conf');
    for (const name of ['sallyport_admin', 'sallyport_admin_grpc'])
      expect(upstream).toContain(`upstream ${name} {\n    server ${socket};\n`);
    expect(await run('--out', out)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('upstream.conf'),
    });
    expect(read(out).has('upstream.conf')).toBe(true);
    expect(await run('--out', out, '--overwrite')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('\nupstream.conf removed\nnext: the site has to name '),
    });
    expect(read(out).has('upstream.conf')).toBe(false);
  });

  it('says what is left to do when verdicts are kept, and when they are no more', async () => {
    const out = freshFolder();
    const on = await run('--out', out, '--verdict-cache');
    const files = renderNginxRecipe({ ...DEFAULT_RECIPE, verdictFolder: VERDICT_FOLDER });
    expect(on.stdout.split('\n')).toEqual([
      `${files.size} files written to ${out}`,
      "next: set doors.me.verdictCache in Sallyport's configuration (2s to 5s)",
      'next: nginx -t, and nginx -s reload',
      '',
    ]);
    const off = await run('--out', out, '--overwrite');
    expect(off.stdout.split('\n')).toEqual([
      expect.stringMatching(/^\d+ files written to \S+, \d+ unchanged$/),
      'verdict-cache.conf removed',
      'next: nginx keeps no verdicts any more: set doors.me.verdictCache to 0s',
      'next: nginx -t, and nginx -s reload',
      '',
    ]);
    expect(read(out).has('verdict-cache.conf')).toBe(false);
  });

  it('prints JSON for programs, errors too', async () => {
    const out = freshFolder();
    const { stdout } = await run('--out', out, '--json');
    expect(JSON.parse(stdout)).toEqual({
      ok: true,
      recipe: 'nginx',
      out,
      written: [...renderNginxRecipe(DEFAULT_RECIPE).keys()],
      unchanged: [],
      removed: [],
      next: ['nginx -t, and nginx -s reload'],
    });
    const refused = await run('--out', out, '--claim', 'department', '--json');
    expect({ status: refused.status, stderr: refused.stderr }).toEqual({ status: 1, stderr: '' });
    expect(JSON.parse(refused.stdout)).toMatchObject({ ok: false, error: 'out_not_empty' });
  });

  it('ends with 1 and one line where nothing can be written', async () => {
    const file = join(scratch, 'file');
    writeFileSync(file, '');
    expect(await run('--out', file)).toEqual({
      status: 1,
      stdout: '',
      stderr: `sallyport: --out: found "${file}", expected a folder that can be written to (ENOTDIR)\n`,
    });
  });

  it('describes every option in its help', async () => {
    const { status, stdout } = await run('--help');
    expect(status).toBe(0);
    for (const name of [
      ...['out', 'overwrite', 'claim', 'bearer-header', 'strip-header'],
      ...['upstream', 'verdict-cache', 'verdict-folder', 'json'],
    ])
      expect(stdout).toContain(`\n  --${name} `);
  });

  const HEADER = 'Expected the name of a header: letters, digits and -.';
  const PATH = 'Expected an absolute path of letters, digits and . _ - /.';
  it.each([
    [['--verdict-cache', '5s'], 'too many arguments'],
    [['--verdict-cach'], "unknown option '--verdict-cach'"],
    [['-x'], "unknown option '-x'"],
    [['--toString'], "unknown option '--toString'"],
    [['--bearer-header', 'A:B'], HEADER],
    [['--bearer-header', 'x-own', '--bearer-header', 'a b'], "argument 'a b' is invalid"],
    [['--strip-header', 'a\nb'], HEADER],
    [['--claim', 'a b'], 'Expected the name of a claim'],
    [['--claim', 'groups_'], 'Expected the name of a claim'],
    [['--claim'], 'argument missing'],
    [['--claim', '--verdict-cache'], 'Expected a value.'],
    [['--out='], 'Expected a value.'],
    [
      ['--verdict-folder', '/run/x'],
      '--verdict-folder: expected --verdict-cache beside it, without which nothing is kept',
    ],
    [['--verdict-cache', '--verdict-folder', 'run/x'], PATH],
    [['--verdict-cache', '--verdict-folder', '/run/../etc'], PATH],
    [['--upstream', '/run/s'], 'Expected unix: and an absolute path'],
    [['--upstream', 'unix:/run/../s'], 'Expected unix: and an absolute path'],
    [['--upstream', 'host'], 'Expected unix: and an absolute path'],
    [['--upstream', 'host:80;'], 'Expected unix: and an absolute path'],
    [['--upstream', 'a b:80'], 'Expected unix: and an absolute path'],
  ])('says of %j what was expected, and writes nothing', async (args, text) => {
    const out = freshFolder();
    const { stdout, stderr } = await run('--out', out, ...args);
    expect(stdout).toBe('');
    expect(stderr).toContain(text);
    expect(stderr).toMatch(/^error: /);
    expect(() => readdirSync(out)).toThrow('ENOENT');
  });

  it('writes nowhere where no folder is named', async () => {
    expect((await run()).stderr).toContain("required option '--out <folder>' not specified");
  });

  it.each([
    ['itself', () => folder('open', 0o777), 'open'],
    ['itself, sticky', () => folder('sticky', 0o1777), 'sticky'],
    ['where it would lie', () => join(folder('above', 0o1777), 'verdicts'), 'above'],
    ['where one above it would lie', () => join(folder('far', 0o1777), 'a', 'b'), 'far'],
    [
      'in which it lies',
      () => {
        const path = join(folder('around', 0o1777), 'verdicts');
        mkdirSync(path);
        return path;
      },
      'around',
    ],
    [
      'from which the one above it can be moved',
      () => {
        const path = join(folder('movable', 0o777), 'a', 'verdicts');
        mkdirSync(path, { recursive: true });
        return path;
      },
      'movable',
    ],
  ])('keeps verdicts in no folder that others may write to: %s', async (_, make, name) => {
    const kept = make();
    const out = freshFolder();
    const { stderr } = await run('--out', out, '--verdict-cache', '--verdict-folder', kept);
    expect(stderr).toContain(
      `error: --verdict-folder: found "${kept}", expected a folder that nginx alone can put there: others may write to ${join(scratch, name)}\n`,
    );
    expect(() => readdirSync(out)).toThrow('ENOENT');
  });

  it('keeps verdicts in a folder of which the one above is closed to others', async () => {
    const sticky = folder('temporary', 0o1777);
    mkdirSync(join(sticky, 'own'), { mode: 0o755 });
    const kept = join(sticky, 'own', 'verdicts');
    const out = freshFolder();
    const { status, stderr } = await run('--out', out, '--verdict-cache', '--verdict-folder', kept);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(read(out).get('verdict-cache.conf')).toContain(`proxy_cache_path ${kept} `);
  });
});
