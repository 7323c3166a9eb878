import { createRow } from '@sallyport/testing/cli/sessions';
import { describe, expect, it } from 'vitest';
import type { Listed } from './read-sessions.ts';
import { describeListed, toListJson, toPlainLine } from './session-list.ts';

const ONE: Listed = { rows: [createRow()], total: 1, sealed: 0 };
const OTHER = createRow({ id: 'AAAAAAAC', subject: 'grace-subject' });
const NOTHING: Listed = { rows: [], total: 0, sealed: 0 };

describe('a list of sessions', () => {
  it('is for a program one document with ISO times and the texts as they were', () => {
    const browser = 'x\u009b2Jy';
    const json = toListJson({ ...ONE, rows: [createRow({ browser })] });
    expect(json).not.toContain('\u009b');
    expect(JSON.parse(json)).toEqual({
      ok: true,
      sessions: [
        {
          id: 'AAAAAAAB',
          issuer: 'https://idp.example',
          subject: 'ada-subject',
          email: 'ada@corp.example',
          name: 'Ada Lovelace',
          preferred_username: 'ada',
          signed_in_at: '2026-11-21T09:00:00.000Z',
          last_used_at: '2026-11-21T11:55:00.000Z',
          ends_at: '2026-11-21T23:00:00.000Z',
          absolute_end: '2026-11-27T12:00:00.000Z',
          address: '192.0.2.15',
          browser,
        },
      ],
      more: false,
      sealed: 0,
    });
  });

  it('says to a program that there are more', () => {
    for (const total of [2, undefined])
      expect(JSON.parse(toListJson({ ...ONE, total }))).toMatchObject({ more: true });
  });

  it('is for a pipe one line a session, with tabs between its parts and nowhere else', () => {
    const line = toPlainLine(
      createRow({ email: 'a\tb@corp.example', browser: 'x\ny', address: '' }),
    );
    expect(line.split('\t')).toEqual([
      'AAAAAAAB',
      '2026-11-21T09:00:00.000Z',
      '2026-11-21T11:55:00.000Z',
      '2026-11-21T23:00:00.000Z',
      'a b@corp.example',
      'ada-subject',
      'https://idp.example',
      '',
      'x y',
    ]);
    expect(line).not.toContain('\n');
  });

  it.each([
    [NOTHING, undefined, ['There are no sessions.']],
    [ONE, undefined, ['1 session of 1 person.']],
    [{ ...ONE, rows: [createRow(), OTHER], total: 2 }, undefined, ['2 sessions of 2 people.']],
    [{ ...ONE, total: 12_345 }, undefined, ['The 1 session used last, of 12,345; see --limit.']],
    [
      { ...ONE, total: undefined },
      'ada-subject',
      ['1 session of this subject; it has more, see --limit.'],
    ],
    [
      { ...ONE, sealed: 2 },
      undefined,
      [
        '1 session of 1 person.',
        '2 more sessions cannot be read: sealed with a key that left the key ring, so no server admits them.',
      ],
    ],
  ])('is summed up: %#', (listed: Listed, subject, lines) => {
    expect(describeListed(listed, subject)).toEqual(lines);
  });

  it('says what a subject is where it has no session', () => {
    expect(describeListed(NOTHING, 'ada@corp.example').join()).toContain('"sub"');
  });
});
