import { describe, expect, it } from 'vitest';
import { boundLines, type LineDestination } from './bounded-lines.ts';

const LINE = `${'x'.repeat(1_023)}\n`;

/** A stream whose reader the test plays. */
function setup() {
  const stream = {
    written: [] as string[],
    writableLength: 0,
    write(line: string) {
      stream.written.push(line);
      stream.writableLength += line.length;
      return true;
    },
  };
  const lines: LineDestination = boundLines(stream, (count) => lines.write(`${count} left out\n`));
  return { stream, lines };
}

describe('Lines for a reader', () => {
  it('are written as they come while a reader takes them', () => {
    const { stream, lines } = setup();
    for (let count = 0; count < 10_000; count += 1) {
      lines.write(LINE);
      stream.writableLength = 0;
    }
    expect(stream.written).toHaveLength(10_000);
  });

  it('never take more than 4 MiB without a reader, and the number of those left out is reported when there is room', () => {
    const { stream, lines } = setup();
    for (let count = 0; count < 10_000; count += 1) lines.write(LINE);
    expect(stream.written).toHaveLength(4_096);
    stream.writableLength = 0;
    lines.write(LINE);
    lines.write(LINE);
    expect(stream.written.slice(4_096)).toEqual([`${10_000 - 4_096} left out\n`, LINE, LINE]);
  });
});
