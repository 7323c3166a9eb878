import { describe, expect, it } from 'vitest';
import { SallyportError } from './errors.ts';
import { accept, refuse } from './result.ts';

describe('SallyportError', () => {
  it('says code, component and the fixed detail', () => {
    const error = new SallyportError('SP_STORE_UNAVAILABLE', {
      component: 'store:local',
      detail: 'the store is full',
      retryAfterSeconds: 1,
    });
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe('SallyportError');
    expect(error.message).toBe('SP_STORE_UNAVAILABLE (store:local): the store is full');
    expect(error).toMatchObject({
      code: 'SP_STORE_UNAVAILABLE',
      component: 'store:local',
      retryAfterSeconds: 1,
    });
  });

  it('means "do not retry" and has no detail when neither is given', () => {
    const error = new SallyportError('SP_CONFIG_INVALID', { component: 'config' });
    expect(error.message).toBe('SP_CONFIG_INVALID (config)');
    expect(error.retryAfterSeconds).toBeUndefined();
  });

  it('keeps the failure underneath as its cause and out of its message', () => {
    const cause = new Error('canary-7f3a');
    const error = new SallyportError('SP_IDP_UNREACHABLE', { component: 'idp', cause });
    expect(error.cause).toBe(cause);
    expect(error.message).not.toContain('canary');
  });
});

describe('Result', () => {
  it('distinguishes a value from a refusal by ok alone, also for values that are false', () => {
    expect(accept(undefined)).toEqual({ ok: true, value: undefined });
    expect(accept(false).ok).toBe(true);
    expect(refuse('why')).toEqual({ ok: false, error: 'why' });
  });
});
