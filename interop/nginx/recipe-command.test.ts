import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { DEFAULT_RECIPE, renderNginxRecipe } from '../../tools/nginx-recipe/recipe.ts';
import { VERDICT_FOLDER } from '../../tools/nginx-recipe/verdict-cache.ts';

const COMMAND = new URL('../../tools/generate-nginx-recipe.ts', import.meta.url).pathname;
const scratch = temporaryFolder();
afterAll(() => scratch.remove());

const generate = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--conditions=source', COMMAND, ...args],
    { encoding: 'utf8' },
  );
  return { status, stdout, stderr };
};
/** Where nothing is yet, nor the folder above. */
const freshFolder = () => join(scratch.path, randomUUID(), 'sallyport');
const folder = (name: string, mode: number) => {
  const path = join(scratch.path, name);
  mkdirSync(path);
  chmodSync(path, mode);
  return path;
};
const read = (path: string) =>
  new Map(readdirSync(path).map((name) => [name, readFileSync(join(path, name), 'utf8')]));

describe('the command that writes the nginx recipe', () => {
  it('names the upstream where it is told to, and no longer when it is not', () => {
    const out = freshFolder();
    const socket = 'unix:/run/sallyport/sallyport.sock';
    expect(generate('--out', out, '--upstream', socket)).toMatchObject({ status: 0, stderr: '' });
    const upstream = read(out).get('upstream.conf');
    for (const name of ['sallyport_admin', 'sallyport_admin_grpc'])
      expect(upstream).toContain(`upstream ${name} {\n    server ${socket};\n`);
    expect(generate('--out', out)).toMatchObject({ status: 0, stderr: '' });
    expect(read(out).has('upstream.conf')).toBe(false);
    for (const wrong of ['/run/s', 'unix:/run/../s', 'host', 'host:80;', 'a b:80'])
      expect(generate('--out', out, '--upstream', wrong)).toMatchObject({ status: 2 });
  });

  it.each(['--help', '-h'])('says how to call it: %s', (option) => {
    const { status, stdout, stderr } = generate(option);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const name of [
      ...[
        'out',
        'claim',
        'bearer-header',
        'strip-header',
        'upstream',
        'verdict-cache',
        'verdict-folder',
      ],
    ])
      expect(stdout).toContain(`\n  --${name} `);
  });

  const ALL =
    '--out, --claim, --bearer-header, --strip-header, --upstream, --verdict-cache, --verdict-folder or --help';
  const HEADER = 'expected the name of a header: letters, digits and -';
  const PATH = 'expected an absolute path of letters, digits and . _ - /';
  it.each([
    [['--verdict-cache', '5s'], '"5s": expected an option; --help names them'],
    [['--verdict-cache=5s'], '--verdict-cache: found "5s", expected no value'],
    [['--verdict-cach'], `--verdict-cach: no such option, expected ${ALL}`],
    [['-x'], `-x: no such option, expected ${ALL}`],
    [['--toString'], `--toString: no such option, expected ${ALL}`],
    [['--bearer-header', 'A:B'], `--bearer-header: found "A:B", ${HEADER}`],
    [['--bearer-header', 'x-own', '--bearer-header', 'a b'], '--bearer-header: found "a b", '],
    [['--strip-header', 'a\nb'], String.raw`--strip-header: found "a\nb", ${HEADER}`],
    [['--claim', 'a b'], '--claim: found "a b", expected the name of a claim'],
    [['--claim', 'groups_'], '--claim: found "groups_", expected the name of a claim'],
    [['--claim'], '--claim: expected a value'],
    [['--claim', '--verdict-cache'], '--claim: found "--verdict-cache", expected a value'],
    [['--out='], '--out: expected a value'],
    [
      ['--verdict-folder', '/run/x'],
      '--verdict-folder: expected --verdict-cache beside it, without which nothing is kept',
    ],
    [['--verdict-cache', '--verdict-folder', 'run/x'], `--verdict-folder: found "run/x", ${PATH}`],
    [
      ['--verdict-cache', '--verdict-folder', '/run/../etc'],
      `--verdict-folder: found "/run/../etc", ${PATH}`,
    ],
  ])('says of %j in one line what was expected, and writes nothing', (args, line) => {
    const out = freshFolder();
    const { status, stdout, stderr } = generate('--out', out, ...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr.startsWith(line)).toBe(true);
    expect(stderr.match(/\n/g)).toHaveLength(1);
    expect(() => readdirSync(out)).toThrow('ENOENT');
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
  ])('keeps verdicts in no folder that others may write to: %s', (_, make, name) => {
    const kept = make();
    const out = freshFolder();
    const { status, stderr } = generate('--out', out, '--verdict-cache', '--verdict-folder', kept);
    expect(status).toBe(2);
    expect(stderr).toBe(
      `--verdict-folder: found "${kept}", expected a folder that nobody but nginx can put there: others may write to ${join(scratch.path, name)}\n`,
    );
    expect(() => readdirSync(out)).toThrow('ENOENT');
  });

  it('keeps verdicts in a folder of which the one above is nobody else’s', () => {
    const sticky = folder('temporary', 0o1777);
    mkdirSync(join(sticky, 'own'), { mode: 0o755 });
    const kept = join(sticky, 'own', 'verdicts');
    const out = freshFolder();
    const { status, stderr } = generate('--out', out, '--verdict-cache', '--verdict-folder', kept);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(read(out).get('verdict-cache.conf')).toContain(`proxy_cache_path ${kept} `);
  });

  it('makes the folder, writes what the options say, and says how much', () => {
    const out = freshFolder();
    const { status, stdout, stderr } = generate(
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
    expect(stdout.split('\n')).toEqual([
      `${files.size} files written to ${out}`,
      'next: copy deploy/nginx/sallyport/http.conf there, which is not generated',
      '',
    ]);
    expect(read(out)).toEqual(files);
  });

  it('says what is left to do when verdicts are kept, and when they are no more', () => {
    const out = freshFolder();
    mkdirSync(out, { recursive: true });
    writeFileSync(join(out, 'http.conf'), '');
    const on = generate('--out', out, '--verdict-cache');
    const files = renderNginxRecipe({ ...DEFAULT_RECIPE, verdictFolder: VERDICT_FOLDER });
    expect(on.stdout.split('\n')).toEqual([
      `${files.size} files written to ${out}`,
      "next: set doors.me.verdictCache in Sallyport's configuration (2s to 5s), then nginx -t, and nginx -s reload",
      '',
    ]);
    const off = generate('--out', out);
    expect(off.stdout.split('\n')).toEqual([
      `${files.size - 1} files written to ${out}`,
      'verdict-cache.conf removed: nginx keeps no verdicts; set doors.me.verdictCache to 0s, then nginx -t, and nginx -s reload',
      '',
    ]);
    expect(read(out).has('verdict-cache.conf')).toBe(false);
    expect(generate('--out', out).stdout).toBe(`${files.size - 1} files written to ${out}\n`);
  });

  it('ends with 1 and one line where nothing can be written', () => {
    const file = join(scratch.path, 'file');
    writeFileSync(file, '');
    expect(generate('--out', file)).toEqual({
      status: 1,
      stdout: '',
      stderr: `--out: found "${file}", expected a folder that can be written to (EEXIST)\n`,
    });
  });
});
