import { describe, expect, it } from 'vitest';
import { type ProfileClaims, selectProfile } from './profile.ts';

const ALL: ProfileClaims = {
  flag: 'a',
  variable: 'b',
  project: { name: 'c', origin: '/p/.sallyport.yaml:1' },
  user: { name: 'd', origin: '/u/config.yaml:1' },
  known: ['a', 'b', 'c', 'd'],
};

describe('Which profile wins, and why: option, variable, project file, own file', () => {
  it.each<[string, Partial<ProfileClaims>, string, string]>([
    ['option', {}, 'a', '--profile'],
    ['variable', { flag: undefined }, 'b', 'SALLYPORT_PROFILE'],
    ['project', { flag: undefined, variable: undefined }, 'c', '/p/.sallyport.yaml:1'],
    [
      'project over an empty variable',
      { flag: undefined, variable: '' },
      'c',
      '/p/.sallyport.yaml:1',
    ],
    [
      'own file',
      { flag: undefined, variable: undefined, project: undefined },
      'd',
      '/u/config.yaml:1',
    ],
    [
      'the only one',
      { flag: undefined, variable: undefined, project: undefined, user: undefined, known: ['x'] },
      'x',
      'the only profile',
    ],
    [
      'default among several',
      {
        flag: undefined,
        variable: undefined,
        project: undefined,
        user: undefined,
        known: ['x', 'default'],
      },
      'default',
      'nothing names another',
    ],
  ])('%s', (_, claims, name, origin) => {
    expect(selectProfile({ ...ALL, ...claims }, false)).toEqual({
      ok: true,
      value: { name, origin, isKnown: true, isProjectChoice: name === 'c' },
    });
  });

  it('refuses a profile that is not there, and lists those that are', () => {
    const refused = selectProfile({ ...ALL, flag: 'nosuch' }, false);
    expect(refused).toEqual({
      ok: false,
      error: '--profile: there is no profile "nosuch"; there are: a, b, c, d',
    });
  });

  it('does not repeat a name that a project file says', () => {
    const project = { name: 'nosuch', origin: '/p/.sallyport.yaml:1' };
    expect(selectProfile({ ...ALL, flag: undefined, variable: undefined, project }, false)).toEqual(
      {
        ok: false,
        error:
          '/p/.sallyport.yaml:1: there is no profile of the name that stands there; there are: a, b, c, d',
      },
    );
  });

  it('lets option and variable name a new one when it is to be written, but no file', () => {
    expect(selectProfile({ ...ALL, flag: 'new' }, true)).toMatchObject({
      ok: true,
      value: { isKnown: false },
    });
    const project = { name: 'new', origin: '/p:1' };
    expect(selectProfile({ ...ALL, flag: undefined, variable: undefined, project }, true).ok).toBe(
      false,
    );
  });

  it.each(['../x', 'a b', '', '-x', 'x'.repeat(65)])('refuses the name %j', (flag) => {
    expect(selectProfile({ ...ALL, flag }, true).ok).toBe(false);
  });
});
