import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Home, makeHome } from './command.ts';

let home: Home;
beforeAll(() => {
  home = makeHome();
});
afterAll(() => home.remove());

describe('sallyport recipe nginx', () => {
  it('writes the files that deploy/nginx has, and ends with 0', async () => {
    const out = join(home.path, 'nginx');
    const { code, stdout, stderr } = await home.run(['recipe', 'nginx', '--out', out, '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const committed = readdirSync(
      new URL('../../deploy/nginx/sallyport/', import.meta.url),
    ).toSorted();
    expect((JSON.parse(stdout) as { written: string[] }).written.toSorted()).toEqual(committed);
    expect(readdirSync(out).toSorted()).toEqual(committed);
  });

  it('ends with 2 and writes nothing when an option is wrong', async () => {
    const out = join(home.path, 'wrong');
    for (const args of [
      ['--claim', 'a b'],
      ['--verdict-folder', '/run/x'],
    ]) {
      const { code, stdout } = await home.run(['recipe', 'nginx', '--out', out, '--json', ...args]);
      expect(code).toBe(2);
      expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: 'usage' });
    }
    expect(() => readdirSync(out)).toThrow('ENOENT');
  });
});
