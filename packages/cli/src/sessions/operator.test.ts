import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { readOperator } from './operator.ts';

describe('who runs the command', () => {
  it('is the user of the operating system, whatever the environment calls them', () => {
    const operator = userInfo().username;
    expect(readOperator({ USER: 'somebody', LOGNAME: 'else', SUDO_USER: '' })).toEqual({
      operator,
    });
  });

  it('is also who became that user with sudo', () => {
    expect(readOperator({ SUDO_USER: 'grace' }).sudo_user).toBe('grace');
  });
});
