import { describe, expect, it } from 'vitest';
import { selectSameSite } from './same-site.ts';

describe('requirement, cookieSetting.sameSitePolicy', () => {
  it.each([
    ['LaxMode', 'Lax'],
    ['NoneMode', 'None'],
    ['DefaultMode', undefined],
  ] as const)('%s sends SameSite=%s', (policy, attribute) => {
    expect(selectSameSite(policy)).toBe(attribute);
  });
});
