import { describe, expect, it } from 'vitest';
import { shellWord } from './shell-word.ts';

describe('A word of a command to be copied', () => {
  it.each(['my/sallyport.yaml', 'https://idp.example.com:8443/realms/a%20b', '--config'])(
    '%s stands as it is',
    (text) => {
      expect(shellWord(text)).toBe(text);
    },
  );

  it.each([
    ['', "''"],
    ['a b', "'a b'"],
    ['$(id)', "'$(id)'"],
    ['https://idp.example.com/realms/a;id', "'https://idp.example.com/realms/a;id'"],
    ["it's", "'it'\\''s'"],
    ['a\nb', "'a\nb'"],
  ])('%j is quoted', (text, quoted) => {
    expect(shellWord(text)).toBe(quoted);
  });
});
