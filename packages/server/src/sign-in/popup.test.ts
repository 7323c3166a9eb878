import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../testing/any-text.ts';
import { readAccount, readPopupTarget, signedInPath } from './popup.ts';

const ORIGIN = 'https://flow.example';
const ACCOUNT = '88tQFrWFtGFouLTX';

const read = (query: string) => readPopupTarget(new URLSearchParams(query), ORIGIN);

describe('readPopupTarget', () => {
  it.each([
    ['mode=popup', `${ORIGIN}/auth/signed-in`],
    [`mode=popup&account=${ACCOUNT}`, `${ORIGIN}/auth/signed-in?account=${ACCOUNT}`],
    ['', undefined],
    [`account=${ACCOUNT}`, undefined],
    ['redirect_url=/x', undefined],
  ])('%j ends on %s', (query, target) => {
    expect(read(query)).toEqual({ target });
  });

  it.each([
    'mode=',
    'mode=Popup',
    'mode=redirect',
    'mode=popup&mode=popup',
    'mode=popup&account=',
    `mode=popup&account=${ACCOUNT}A`,
    `mode=popup&account=${ACCOUNT}&account=${ACCOUNT}`,
    'mode=popup&account=../../../../evil',
    'account=nobody',
  ])('%j is not understood', (query) => {
    expect(read(query)).toBe('not_understood');
  });

  it('never ends anywhere but on our own page, whatever account is named', () => {
    fc.assert(
      fc.property(anyText(20), (account) => {
        const popup = readPopupTarget(new URLSearchParams({ mode: 'popup', account }), ORIGIN);
        if (popup === 'not_understood') return;
        const { origin, pathname } = new URL(popup.target ?? '');
        expect([origin, pathname]).toEqual([ORIGIN, '/auth/signed-in']);
      }),
    );
  });
});

describe('readAccount', () => {
  it('reads back what signedInPath writes', () => {
    for (const digest of [undefined, ACCOUNT]) {
      const { searchParams } = new URL(signedInPath(digest), ORIGIN);
      expect(readAccount(searchParams)).toEqual({ digest });
    }
  });
});
