import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStrictObject } from './strict-json.ts';

describe('parseStrictObject', () => {
  it.each([
    '{}',
    '{"a":1}',
    ' {"a" : {"b": [1, {"c": null}]}} ',
    '{"a":"\\"b\\":1","b":2}',
    '{"a":"\\\\","b":":"}',
    '{"a:":":","b":[":",{"c":":"}]}',
    '{"__proto__":1,"constructor":2}',
  ])('takes %s as JSON.parse does', (text) => {
    expect(parseStrictObject(text)).toEqual(JSON.parse(text));
  });

  it.each([
    '{"a":1,"a":1}',
    '{"a":1,"b":2,"a":3}',
    '{"a":1,"\\u0061":2}',
    '{"a":{"b":1,"b":2}}',
    '{"a":[{"b":1,"b":2}]}',
    '{"__proto__":1,"__proto__":2}',
    '{"a":"x\\\\","a":":"}',
  ])('RFC 7519 section 4: refuses a member given twice: %s', (text) => {
    expect(() => JSON.parse(text)).not.toThrow();
    expect(parseStrictObject(text)).toBeUndefined();
  });

  it.each([
    '',
    'null',
    '[]',
    '"a"',
    '1',
    '{"a":1}x',
    '{"a":1}{}',
    '{"a":1',
    '{"a',
    '{"a\\',
    '\ufeff{}',
    "{'a':1}",
    '{"a":NaN}',
  ])('refuses what is no JSON object: %j', (text) => {
    expect(parseStrictObject(text)).toBeUndefined();
  });

  it('refuses nesting that would overflow a walk, however deep', () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect(parseStrictObject(nested(31))).toBeDefined();
    expect(parseStrictObject(nested(32))).toBeUndefined();
    expect(parseStrictObject(nested(100_000))).toBeUndefined();
  });

  it('gives any object back as it was written, and nothing when one of its members is repeated', () => {
    const objects = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 4 }), {
      minKeys: 1,
    });
    fc.assert(
      fc.property(objects, fc.nat(), (object, at) => {
        const text = JSON.stringify(object);
        expect(parseStrictObject(text)).toEqual(JSON.parse(text));
        const names = Object.keys(object);
        const name = names[at % names.length] ?? '';
        const twice = `{${JSON.stringify(name)}:0,${text.slice(1)}`;
        expect(parseStrictObject(twice)).toBeUndefined();
      }),
    );
  });

  it('never throws, whatever the text', () => {
    const pieces = fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', 'a', '1', ' ', '"a":1');
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseStrictObject(text);
        if (parsed !== undefined) expect(parsed).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });
});
