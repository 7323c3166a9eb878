import { describe, expect, it } from 'vitest';
import type { StateDirectory } from './state-directory.ts';
import { claimsOf, keepUsers, verifyPassword } from './users.ts';

/** A directory whose every file has this text; without a text it makes each file. */
function directoryWith(text?: string): StateDirectory {
  return {
    pathOf: (name) => name,
    keep: async (_name, create) => text ?? create(),
    read: async () => text,
    replace: async () => {},
  };
}

describe('keepUsers', () => {
  it('makes passwords of four readable groups with 80 bits, different for each user', async () => {
    const users = await keepUsers(directoryWith());
    const passwords = users.map(({ password }) => password);
    for (const password of passwords)
      expect(password).toMatch(/^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){3}$/);
    expect(new Set(passwords).size).toBe(users.length);
    expect(users.map(({ login, name, email }) => [login, name, email])).toEqual([
      ['ada', 'Ada Lovelace', 'ada@example.test'],
      ['grace', 'Grace Hopper', 'grace@example.test'],
    ]);
  });

  it('takes a password that was edited into the file, whatever its line ends', async () => {
    const users = await keepUsers(directoryWith('grace own-one\r\n\nada other\n'));
    expect(users.map(({ login, password }) => `${login} ${password}`)).toEqual([
      'ada other',
      'grace own-one',
    ]);
  });

  it.each(['ada only-one\n', 'ada\ngrace\n', 'ada a b\ngrace c\n', 'nonsense'])(
    'refuses a file in which a user has no password: %j',
    async (text) => {
      await expect(keepUsers(directoryWith(text))).rejects.toThrow('SP_CONFIG_INVALID');
    },
  );
});

describe('verifyPassword', () => {
  const users = [
    { login: 'ada', name: 'Ada Lovelace', email: 'ada@example.test', password: 'right' },
    { login: 'grace', name: 'Grace Hopper', email: 'grace@example.test', password: 'other' },
  ];

  it('finds the user whose login and password are given', () => {
    expect(verifyPassword(users, 'ada', 'right')).toBe(users[0]);
  });

  it.each([
    ['ada', 'wrong'],
    ['ada', ''],
    ['ada', 'right '],
    ['ada', 'other'],
    ['Ada', 'right'],
    ['nobody', 'right'],
    ['nobody', ''],
    ['', ''],
  ])('refuses %j with %j', (login, password) => {
    expect(verifyPassword(users, login, password)).toBeUndefined();
  });
});

describe('claimsOf', () => {
  it('OpenID Connect Core 5.1: names the person in the standard claims', () => {
    const [ada] = [{ login: 'ada', name: 'Ada Lovelace', email: 'a@b.test', password: 'x' }];
    expect(claimsOf(ada)).toEqual({
      name: 'Ada Lovelace',
      preferred_username: 'ada',
      given_name: 'Ada',
      family_name: 'Lovelace',
      email: 'a@b.test',
      email_verified: true,
    });
  });
});
