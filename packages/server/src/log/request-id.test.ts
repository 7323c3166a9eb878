import { describe, expect, it } from 'vitest';
import { requestIdOf, selectRequestId } from './request-id.ts';

describe('selectRequestId', () => {
  it.each(['12345678', 'a.b_c-d0', 'A'.repeat(64)])('keeps the short and harmless %s', (id) => {
    expect(selectRequestId(id)).toBe(id);
  });

  it('keeps the one value of a header given as a list', () => {
    expect(selectRequestId(['12345678'])).toBe('12345678');
  });

  it.each([
    undefined,
    [],
    '',
    '1234567',
    'A'.repeat(65),
    '12345678\n',
    '1234 5678',
    '<script>alert(1)</script>',
    '12345678"',
    'éééééééé',
    ['12345678', '87654321'],
  ])('draws one of its own instead of %j', (sent) => {
    const [one, other] = [selectRequestId(sent), selectRequestId(sent)];
    expect(one).toMatch(/^[0-9a-f-]{36}$/);
    expect(other).not.toBe(one);
  });
});

describe('requestIdOf', () => {
  it('keeps what the request brought, and draws one for each other request, always the same', () => {
    expect(requestIdOf({ 'x-request-id': '12345678' })).toBe('12345678');
    const [one, other] = [{}, { 'x-request-id': 'short' }];
    const id = requestIdOf(one);
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(requestIdOf(one)).toBe(id);
    expect(requestIdOf(other)).not.toBe(id);
    expect(requestIdOf(other)).toBe(requestIdOf(other));
  });
});
