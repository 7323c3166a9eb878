import { encodePart } from '@sallyport/testing/idp/forge';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJwtShaped, parseJwt, TOKEN_MAX_LENGTH } from './jwt.ts';

const HEADER = { alg: 'RS256', kid: 'k', typ: 'at+jwt' };
const SIGNATURE = Buffer.from('signature').toString('base64url');

const token = (header: unknown, payload: unknown, signature = SIGNATURE) =>
  `${encodePart(header)}.${encodePart(payload)}.${signature}`;
const problemOf = (text: string) => {
  const parsed = parseJwt(text);
  return parsed.ok ? undefined : parsed.error;
};

describe('a signed JWT', () => {
  it('is taken apart, its signing input as it was sent', () => {
    const text = token(HEADER, { sub: 'ada' });
    expect(parseJwt(text)).toEqual({
      ok: true,
      value: {
        algorithm: 'RS256',
        keyId: 'k',
        type: 'at+jwt',
        claims: { sub: 'ada' },
        signingInput: text.slice(0, text.lastIndexOf('.')),
        signature: Buffer.from('signature'),
      },
    });
  });

  it.each([
    ['AT+JWT', 'at+jwt'],
    ['application/at+jwt', 'at+jwt'],
    ['Application/AT+JWT', 'at+jwt'],
    [undefined, ''],
  ])('RFC 7515 section 4.1.9: typ %s is read as %j', (typ, type) => {
    expect(parseJwt(token({ alg: 'RS256', typ }, {}))).toMatchObject({ ok: true, value: { type } });
  });

  it.each(['jku', 'jwk', 'x5u', 'x5c', 'x5t', 'cty', 'anything'])(
    'is taken with %s in its header, which is ignored',
    (name) => {
      expect(problemOf(token({ ...HEADER, [name]: 'https://evil.example' }, {}))).toBeUndefined();
    },
  );

  it.each([
    ['crit', ['exp']],
    ['crit', []],
    ['crit', null],
    ['b64', false],
    ['b64', true],
    ['zip', 'DEF'],
    ['enc', 'A256GCM'],
  ])('RFC 7515 section 4.1.11: is refused with %s %j in its header', (name, value) => {
    expect(problemOf(token({ ...HEADER, [name]: value }, {}))).toBe('header');
  });

  it.each([
    ['no alg', { kid: 'k' }],
    ['an alg that is no text', { alg: ['RS256'] }],
    ['a kid that is no text', { ...HEADER, kid: 7 }],
    ['a kid that is an object', { ...HEADER, kid: { $ne: '' } }],
    ['a kid that is null', { ...HEADER, kid: null }],
    ['a kid of 10 kB', { ...HEADER, kid: 'k'.repeat(10_000) }],
    ['a typ that is no text', { ...HEADER, typ: {} }],
    ['a list as header', []],
    ['a text as header', '"alg"'],
    ['an alg given twice', '{"alg":"RS256","alg":"none"}'],
  ])('is refused with %s', (_, header) => {
    expect(problemOf(token(header, {}))).toBe('header');
  });

  it.each([
    ['no object', '"sub"'],
    ['a list', []],
    ['a claim given twice', '{"sub":"ada","sub":"eve"}'],
    ['nothing', '{'],
  ])('is refused with %s as payload', (_, payload) => {
    expect(problemOf(token(HEADER, payload))).toBe('payload');
  });

  it('is refused when its text is no UTF-8', () => {
    const payload = Buffer.concat([
      Buffer.from('{"sub":"'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ]);
    const text = `${encodePart(HEADER)}.${payload.toString('base64url')}.${SIGNATURE}`;
    expect(problemOf(text)).toBe('payload');
  });

  it.each([
    ['without signature', (text: string) => text.slice(0, text.lastIndexOf('.') + 1)],
    ['of two parts', (text: string) => text.slice(0, text.lastIndexOf('.'))],
    ['of four parts', (text: string) => `${text}.x`],
    ['of five parts, which is encrypted', (text: string) => `${text}.x.x`],
    ['with text behind it', (text: string) => `${text} x`],
    ['with a line break behind it', (text: string) => `${text}\n`],
    ['with a blank before it', (text: string) => ` ${text}`],
    ['padded', (text: string) => `${text}=`],
    ['in the other base64 alphabet', (text: string) => text.replace(/.$/, '+')],
    ['with a NUL', (text: string) => `${text}\u0000`],
  ])('is refused %s', (_, change) => {
    expect(problemOf(change(token(HEADER, {})))).toBe('form');
  });

  it('RFC 4648 section 3.5: is refused when bits are left over in any part', () => {
    // One byte is two characters, the second of which has four bits to spare.
    expect(problemOf(token(HEADER, {}, 'AA'))).toBeUndefined();
    expect(problemOf(token(HEADER, {}, 'AB'))).toBe('form');
    expect(problemOf(token(HEADER, {}, 'AAA'))).toBeUndefined();
    expect(problemOf(token(HEADER, {}, 'AAB'))).toBe('form');
    expect(problemOf(token(HEADER, {}, 'A'))).toBe('form');
    expect(problemOf(token(HEADER, {}, 'AAAAA'))).toBe('form');
    const payload = encodePart({ a: 1 });
    expect(payload.at(-1)).toBe('Q');
    const spare = `${encodePart(HEADER)}.${payload.slice(0, -1)}R.${SIGNATURE}`;
    expect(Buffer.from(spare.split('.')[1] ?? '', 'base64url').toString()).toBe('{"a":1}');
    expect(problemOf(spare)).toBe('payload');
  });

  it('is refused beyond 16,384 characters, and taken up to them', () => {
    const header = { ...HEADER, kid: 'id' };
    const room = TOKEN_MAX_LENGTH - token(header, {}, '').length;
    // No bytes are encoded in 4n + 1 characters: the header's length leaves another number.
    expect(room % 4).not.toBe(1);
    const longest = token(header, {}, 'A'.repeat(room));
    expect(longest).toHaveLength(TOKEN_MAX_LENGTH);
    expect(problemOf(longest)).toBeUndefined();
    expect(problemOf(`${longest}A`)).toBe('size');
  });

  it('has one spelling: any change of one character gives another meaning or none', () => {
    const text = token(HEADER, { sub: 'ada', aud: ['a', 'b'] });
    const honest = JSON.stringify(parseJwt(text));
    for (let at = 0; at < text.length; at += 1) {
      const changed = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
      expect(JSON.stringify(parseJwt(changed)), `at ${at}`).not.toBe(honest);
    }
  });

  it('never throws, whatever the text, and takes only what encodes to the same again', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.stringMatching(/^[\w-]{0,20}$/),
      fc.json({ maxDepth: 2 }).map(encodePart),
      fc.constant(encodePart(HEADER)),
    );
    const texts = fc.array(part, { maxLength: 6 }).map((parts) => parts.join('.'));
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseJwt(text);
        if (!parsed.ok) return;
        const { signingInput, signature } = parsed.value;
        expect(`${signingInput}.${Buffer.from(signature).toString('base64url')}`).toBe(text);
        for (const each of signingInput.split('.'))
          expect(Buffer.from(each, 'base64url').toString('base64url')).toBe(each);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('isJwtShaped', () => {
  it.each(['a.b.c', '..', 'eyJ.eyJ.x', 'a.b.c.d.e', '....', 'no jwt.at.all'])('%s is', (text) => {
    expect(isJwtShaped(text)).toBe(true);
  });

  it.each(['', 'opaque', 'ory_at_x.y', 'a.b.c.d', 'a.b.c.d.e.f'])('%s is not', (text) => {
    expect(isJwtShaped(text)).toBe(false);
  });
});
