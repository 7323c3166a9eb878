import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const MODULE = new URL('./stdio.ts', import.meta.url).href;
const LINES = 40;
const WRITER = `import { createStdio } from '${MODULE}';
const { out } = createStdio();
for (let n = 0; n < ${LINES}; n += 1) out(String(n).padEnd(50_000, '.'));`;

/** The writer's exit code and what the reader behind the pipe printed. */
function pipeTo(reader: string): string {
  const script = `"$@" | ${reader}; echo "writer: \${PIPESTATUS[0]}"`;
  const writer = [process.execPath, '--conditions=source', '--input-type=module', '-e', WRITER];
  return execFileSync('bash', ['-c', script, 'bash', ...writer], {
    encoding: 'utf8',
    maxBuffer: 10_000_000,
  });
}

describe('Lines on stdout', () => {
  it('reach a slow reader whole and in their order', () => {
    const lines = pipeTo('(read -r first; echo "$first"; cat)').trimEnd().split('\n');
    expect(lines.pop()).toBe('writer: 0');
    expect(lines.map((line) => [Number.parseInt(line, 10), line.length])).toEqual(
      Array.from({ length: LINES }, (_, n) => [n, 50_000]),
    );
  });

  it('that a reader does not wait for are no failure', () => {
    expect(pipeTo('head -c 1')).toBe('0writer: 0\n');
  });
});
