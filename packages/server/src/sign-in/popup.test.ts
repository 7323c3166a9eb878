import { anyText } from '@sallyport/testing/arbitraries/any-text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPopupTarget } from './popup.ts';

const ORIGIN = 'https://flow.example';

const read = (query: string) => readPopupTarget(new URLSearchParams(query), ORIGIN);

describe('readPopupTarget', () => {
  it.each([
    ['mode=popup', `${ORIGIN}/auth/signed-in`],
    ['', undefined],
    ['redirect_url=/x', undefined],
  ])('%j ends on %s', (query, target) => {
    expect(read(query)).toEqual({ target });
  });

  it.each(['mode=', 'mode=Popup', 'mode=redirect', 'mode=popup&mode=popup'])(
    '%j is not understood',
    (query) => {
      expect(read(query)).toBe('not_understood');
    },
  );

  it('ends on the same address whatever else is asked, so that the opener cannot find out who is signed in', () => {
    fc.assert(
      fc.property(fc.constantFrom('account', 'redirect_url', 'x'), anyText(20), (name, value) => {
        const query = new URLSearchParams({ mode: 'popup', [name]: value });
        expect(readPopupTarget(query, ORIGIN)).toEqual({ target: `${ORIGIN}/auth/signed-in` });
      }),
    );
  });
});
