import { nameBrowser } from '@sallyport/server';
import { createRow, ISSUER, NOON } from '@sallyport/testing/cli/sessions';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { displayWidth } from './display-width.ts';
import type { SessionRow } from './session-row.ts';
import { drawSessionTable } from './session-table.ts';

const RUNS = process.env['CI'] === undefined ? 200 : 2_000;
const HOUR_MS = 3_600_000;
const UUID = '3f2504e0-4f89-11d3-9a0c-0305e82c3301';

const draw = (columns: number, ...rows: readonly SessionRow[]): string[] =>
  drawSessionTable(rows, { columns, now: NOON, issuer: ISSUER, describeBrowser: nameBrowser });

describe('the table of sessions', () => {
  const grace = createRow({
    id: '-Q_AAAAC',
    subject: UUID,
    email: '',
    preferredUsername: 'grace',
    lastUsedAt: NOON - 20_000,
    createdAt: NOON - 50 * HOUR_MS,
    endsAt: NOON + 40 * 60_000,
    address: '2001:db8:85a3::8a2e:370:7334',
  });

  it('has everything on one line where the terminal is wide', () => {
    expect(draw(170, createRow(), grace)).toEqual([
      'ID        WHO               SUBJECT                               SIGNED IN (UTC)   LAST USED  ENDS    ADDRESS                       BROWSER',
      'AAAAAAAB  ada@corp.example  ada-subject                           2026-11-21 09:00  5m ago     in 11h  192.0.2.15                    Firefox 140 on Linux',
      '-Q_AAAAC  grace             3f2504e0-4f89-11d3-9a0c-0305e82c3301  2026-11-19 10:00  just now   in 40m  2001:db8:85a3::8a2e:370:7334  Firefox 140 on Linux',
    ]);
  });

  it('has on 80 columns what does not fit on lines below the name, and cuts none of it', () => {
    expect(draw(80, createRow(), grace)).toEqual([
      'ID        WHO               SIGNED IN (UTC)   LAST USED  ENDS',
      'AAAAAAAB  ada@corp.example  2026-11-21 09:00  5m ago     in 11h',
      '          ada-subject  192.0.2.15  Firefox 140 on Linux',
      '-Q_AAAAC  grace             2026-11-19 10:00  just now   in 40m',
      '          3f2504e0-4f89-11d3-9a0c-0305e82c3301  2001:db8:85a3::8a2e:370:7334',
      '          Firefox 140 on Linux',
    ]);
  });

  it('has no columns where the terminal is narrow', () => {
    expect(draw(40, createRow())).toEqual([
      'AAAAAAAB  ada@corp.example',
      '  ada-subject',
      '  signed in 2026-11-21 09:00 UTC',
      '  used 5m ago  ends in 11h  192.0.2.15',
      '  Firefox 140 on Linux',
    ]);
  });

  it('cuts a subject after everything else, and then in its middle', () => {
    const wordy = { email: `${'a'.repeat(60)}@corp.example`, subject: UUID };
    const [, wide = ''] = draw(140, createRow(wordy));
    expect(wide).toContain(UUID);
    expect(wide).toMatch(/a… {2}/);
    const [, cut = ''] = draw(120, createRow(wordy));
    expect(cut).toMatch(/3f2504\S*…\S*3301 {2}/);
  });

  it('names the issuer of a subject that is not of the configured one, and no other', () => {
    const old = createRow({ issuer: 'https://old.example' });
    expect(draw(200, old)[1]).toContain('ada-subject (https://old.example)');
    expect(draw(200, createRow())[1]).not.toContain(ISSUER);
  });

  it('does not repeat a subject that is the only name there is', () => {
    const nameless = createRow({ email: '', preferredUsername: '', name: '' });
    expect(
      draw(80, nameless)
        .join('\n')
        .match(/ada-subject/g),
    ).toHaveLength(1);
  });

  it.each([
    [30_000, 'just now', 'in <1m'],
    [60_000, '1m ago', 'in 1m'],
    [59 * 60_000, '59m ago', 'in 59m'],
    [HOUR_MS, '1h ago', 'in 1h'],
    [59.6 * 60_000, '1h ago', 'in 1h'],
    [12 * HOUR_MS - 1_000, '12h ago', 'in 12h'],
    [47.4 * HOUR_MS, '47h ago', 'in 47h'],
    [47.6 * HOUR_MS, '2d ago', 'in 2d'],
    [48 * HOUR_MS, '2d ago', 'in 2d'],
  ])('a distance of %i ms is "%s" and "%s"', (distance, used, ends) => {
    const [, line] = draw(200, createRow({ lastUsedAt: NOON - distance, endsAt: NOON + distance }));
    expect(line).toContain(`  ${used}  `);
    expect(line).toContain(`  ${ends}  `);
  });

  it.each(['email', 'subject', 'issuer', 'address', 'browser'] as const)(
    'writes nothing of a hostile %s that a terminal obeys',
    (field) => {
      const hostile = createRow({ [field]: 'x\u001b[2J\u009b31m\u202ey\n\tz' });
      for (const columns of [200, 80, 40]) {
        const lines = drawSessionTable([hostile], {
          ...{ columns, now: NOON, issuer: ISSUER },
          describeBrowser: (userAgent) => userAgent,
        });
        expect(lines.join('')).toContain('x [2J 31m y z');
        expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      }
    },
  );

  it('is no wider than the terminal, whatever the texts, and shows every id whole', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 80 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(text, text, text, text), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 20, max: 250 }),
        (texts, columns) => {
          const rows = texts.map(([email, subject, address, browser], index) =>
            createRow({ id: `AAAAAAA${index}`, email, subject, address, browser }),
          );
          const lines = draw(columns, ...rows);
          for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
          for (const { id } of rows)
            expect(lines.filter((line) => line.startsWith(id))).toHaveLength(1);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
