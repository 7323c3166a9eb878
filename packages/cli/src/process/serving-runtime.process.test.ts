import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

const MODULE = new URL('serving-runtime.ts', import.meta.url).href;
const TAG = "process.getBuiltinModule('node:v8').cachedDataVersionTag()";

/** What a program of its own prints. The tag depends on the flags that hold at the moment. */
function tagsOf(program: string, ...options: readonly string[]): readonly number[] {
  const args = [...options, '--input-type=module', '--eval', program];
  const stdout = execFileSync(process.execPath, args, { encoding: 'utf8' });
  return JSON.parse(stdout) as readonly number[];
}

it('a process that serves runs as with --no-allocation-site-pretenuring, and is loaded as without', () => {
  const [before, after] = tagsOf(
    `const { prepareToServe } = await import('${MODULE}');
     const before = ${TAG};
     prepareToServe();
     console.log(JSON.stringify([before, ${TAG}]));`,
  );
  const print = `console.log(JSON.stringify([${TAG}]));`;
  expect([before]).toEqual(tagsOf(print));
  expect([after]).toEqual(tagsOf(print, '--no-allocation-site-pretenuring'));
  expect(after).not.toBe(before);
});
