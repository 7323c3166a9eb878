import { describe, expect, it } from 'vitest';
import { suggestKey } from './suggestion.ts';

describe('what an unknown key may have meant', () => {
  it.each([
    ['', 'publicURL', 'publicUrl (did you mean that?)'],
    ['', 'public_url', 'publicUrl (did you mean that?)'],
    ['listen', 'prot', 'listen.port (did you mean that?)'],
    ['auth.userAuth.openId', 'baseURI', 'auth.userAuth.openId.baseUrl (did you mean that?)'],
    ['union.auth', 'enabled', 'union.auth.enable (did you mean that?)'],
    ['auth', 'openId', 'auth.userAuth.openId (did you mean that?)'],
    ['', 'useAuth', 'server.security.useAuth (did you mean that?)'],
    ['observe', 'colour', 'one of logLevel, sampleSuccesses, audit, metrics, traces'],
    ['auth.userAuth', 'openId.baseUrl', 'auth.userAuth.openId.baseUrl (did you mean that?)'],
    ['auth', 'disableForHttp', 'no such key: enforcement is never switched off for one transport'],
  ])('in "%s", %s: %s', (block, name, expected) => {
    expect(suggestKey(block, name)).toBe(expected);
  });

  it('suggests nothing where several keys have the name, or none is similar', () => {
    expect(suggestKey('', 'clientId')).toBe('a documented key');
    expect(suggestKey('', 'zzzzzz')).toBe('a documented key');
    expect(suggestKey('', '__proto__')).toBe('a documented key');
  });
});
