import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SallyportError } from '@sallyport/protocol';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openCollectorHeaders, parseHeaders } from './collector-headers.ts';

const CANARY = 'canary-7f3a';

function fileOf(text: string): string {
  const folder = createTemporaryFolder();
  const path = join(folder, 'headers');
  writeFileSync(path, text);
  return path;
}

describe('the file of headers for the collector', () => {
  it('has one header a line, names in any case, empty lines between', () => {
    const text = 'Authorization: Bearer a b\r\n\nx-team:  core \n';
    expect(parseHeaders(text)).toEqual({
      ok: true,
      value: { authorization: 'Bearer a b', 'x-team': 'core' },
    });
  });

  it.each([
    [CANARY, 1],
    [`: ${CANARY}`, 1],
    [`x y: ${CANARY}`, 1],
    ['x-team:', 1],
    [`x-team: ${CANARY}\u0000`, 1],
    [`x-team: ${CANARY}é`, 1],
    [`x-team: a\nX-Team: ${CANARY}`, 2],
    [`x-team: a\ncontent-type: ${CANARY}`, 2],
    [`host: ${CANARY}`, 1],
  ])('is refused as %j, naming line %d and none of it', (text, line) => {
    const result = parseHeaders(text);
    expect(result).toMatchObject({ ok: false, error: { found: `something else in line ${line}` } });
    expect(JSON.stringify(result)).not.toContain('canary');
  });

  it('is refused without a header, and with more than 16', () => {
    expect(parseHeaders('\n \n').ok).toBe(false);
    const many = Array.from({ length: 17 }, (_, index) => `x-${index}: 1`).join('\n');
    expect(parseHeaders(many).ok).toBe(false);
  });

  it('gives headers that can be sent, or none', () => {
    const name = fc.constantFrom('x-a', 'X-B', 'authorization', 'x_c', 'host', '');
    const line = fc.tuple(name, fc.string()).map((parts) => parts.join(': '));
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(line, { maxLength: 5 }).map((lines) => lines.join('\n')),
    );
    let taken = 0;
    fc.assert(
      fc.property(text, (written) => {
        const result = parseHeaders(written);
        if (!result.ok) return;
        taken += 1;
        expect([...new Headers(result.value)]).toHaveLength(Object.keys(result.value).length);
      }),
      { numRuns: 500 },
    );
    expect(taken).toBeGreaterThan(0);
  });
});

describe('openCollectorHeaders', () => {
  it('has none without a file', () => {
    expect(openCollectorHeaders('', () => {}).current()).toEqual({});
  });

  it('reads the file', () => {
    const headers = openCollectorHeaders(fileOf('x-team: core\n'), () => {});
    onTestFinished(() => headers.close());
    expect(headers.current()).toEqual({ 'x-team': 'core' });
  });

  it.each([
    ['a file that is not there', () => '/nonexistent/headers'],
    ['a file without a header', () => fileOf(CANARY)],
  ])('reports %s before anything starts, and nothing of its text', (_, path) => {
    const open = () => openCollectorHeaders(path(), () => {});
    expect(open).toThrow(SallyportError);
    expect(open).toThrow(/SP_CONFIG_INVALID.*observe\.traces\.headersFile/);
    expect(open).not.toThrow(/canary/);
  });
});
