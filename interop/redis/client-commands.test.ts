import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCommandReader } from './client-commands.ts';

const encode = (words: readonly string[]) =>
  Buffer.from(
    `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`,
    'latin1',
  );

function read(...chunks: readonly Buffer[]): string[] {
  const commands: string[] = [];
  const take = createCommandReader((command) => commands.push(command));
  for (const chunk of chunks) take(chunk);
  return commands;
}

describe('What a Redis client sends', () => {
  it('is read whole, in whatever pieces it comes', () => {
    const word = fc.string({
      unit: fc.nat(255).map((code) => String.fromCharCode(code)),
      maxLength: 40,
    });
    const command = fc.tuple(
      fc.constantFrom('GET', 'SET', 'SUBSCRIBE'),
      fc.array(word, { maxLength: 5 }),
    );
    fc.assert(
      fc.property(
        fc.array(command, { minLength: 1, maxLength: 5 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 30 })),
        (sent, sizes) => {
          const lists = sent.map(([name, words]) => [name, ...words]);
          const bytes = Buffer.concat(lists.map(encode));
          const chunks: Buffer[] = [];
          for (let at = 0; at < bytes.length; ) {
            const size = sizes.next().value ?? 1;
            chunks.push(bytes.subarray(at, at + size));
            at += size;
          }
          expect(read(...chunks)).toEqual(lists.map((words) => words.join(' ')));
        },
      ),
    );
  });

  it('names a command in capitals, with its words cut', () => {
    expect(read(encode(['subscribe', 'x'.repeat(100)]))).toEqual([`SUBSCRIBE ${'x'.repeat(64)}`]);
  });

  it.each([
    ['TLS', Buffer.from([0x16, 3, 1, 2, 0, 1])],
    ['an inline command', Buffer.from('PING\r\n')],
    ['a length that is none', Buffer.from('*x\r\n')],
    ['a length without end', Buffer.from(`*${'1'.repeat(40)}`)],
    ['a nested array', Buffer.from('*1\r\n*1\r\n$1\r\nx\r\n')],
  ])('is not followed any more after %s', (_, bytes) => {
    expect(read(encode(['PING']), bytes, encode(['PING']))).toEqual(['PING']);
  });

  it('never makes it throw', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 })), (chunks) => {
        read(...chunks.map((chunk) => Buffer.from(chunk)));
      }),
    );
  });
});
