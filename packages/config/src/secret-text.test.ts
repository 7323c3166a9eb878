import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { SecretText } from './secret-text.ts';

describe('SecretText', () => {
  it('gives its value to an explicit call, and to no printing', () => {
    const secret = new SecretText('hunter2');
    expect(secret.reveal()).toBe('hunter2');
    expect(secret.isPresent).toBe(true);
    for (const printed of [JSON.stringify({ secret }), secret.toString(), inspect({ secret })])
      expect(printed).not.toContain('hunter2');
    expect(JSON.stringify({ secret })).toBe('{"secret":"[secret]"}');
  });

  it('distinguishes an absent one', () => {
    expect(new SecretText('').isPresent).toBe(false);
    expect(JSON.stringify(new SecretText(''))).toBe('""');
  });
});
