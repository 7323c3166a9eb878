import { SallyportError } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import {
  adviseLogin,
  loginRequiredFailure,
  reportFailure,
  toFailure,
  toThrownFailure,
} from './report.ts';

function listen() {
  const out: string[] = [];
  const error: string[] = [];
  const stdio = {
    out: (line: string) => out.push(line),
    error: (line: string) => error.push(line),
    cleanse: (text: string) => text.replaceAll('canary', '[secret]'),
    conceal: () => {},
    isTerminal: false,
    isInteractive: false,
  };
  return { out, error, stdio };
}

describe('How a command ends when it fails', () => {
  it.each([
    ['login_required', 4],
    ['invalid_grant', 4],
    ['login_cancelled', 130],
    ['login_timed_out', 1],
    ['access_denied', 1],
    ['redirect_port_in_use', 1],
  ])('the refusal %s is exit code %d', (error, exitCode) => {
    expect(toFailure({ error, description: '', hint: '' }).exitCode).toBe(exitCode);
  });

  it.each([
    ['SP_IDP_UNREACHABLE', 5],
    ['SP_PLATFORM_UNREACHABLE', 5],
    ['SP_IDP_PROTOCOL', 1],
    ['SP_TOKEN_STORE_UNUSABLE', 1],
  ] as const)('the failure %s is exit code %d', (code, exitCode) => {
    const thrown = new SallyportError(code, { component: 'x', detail: 'why' });
    expect(toThrownFailure(thrown, false)).toMatchObject({ error: code, exitCode });
    expect(toThrownFailure(thrown, true)).toMatchObject({ error: 'interrupted', exitCode: 130 });
  });

  it('a failure to reach a server is a sentence with its cause, a hint, and the code at its end', () => {
    const cause = Object.assign(new Error('canary'), { code: 'ENOTFOUND' });
    const thrown = new SallyportError('SP_PLATFORM_UNREACHABLE', {
      component: 'platform',
      detail: 'https://p.invalid does not answer',
      cause: new TypeError('fetch failed', { cause }),
    });
    const { description, hint } = toThrownFailure(thrown, false);
    expect(description).toBe(
      'https://p.invalid does not answer: there is no such name (SP_PLATFORM_UNREACHABLE)',
    );
    expect(hint).toContain('HTTPS_PROXY');
  });

  it('a failure with no detail and no known cause is its code', () => {
    const thrown = new SallyportError('SP_IDP_UNREACHABLE', { component: 'idp' });
    expect(toThrownFailure(thrown, false)).toMatchObject({
      description: 'SP_IDP_UNREACHABLE',
      hint: '',
    });
  });

  it('where a sign-in is what is needed the hint is its command, and elsewhere it stays', () => {
    const refusal = { error: 'login_required', description: 'd', hint: 'Sign in again.' };
    expect(adviseLogin(toFailure(refusal), 'sallyport login --profile a').hint).toBe(
      'Sign in: sallyport login --profile a',
    );
    const other = toFailure({ ...refusal, error: 'access_denied' });
    expect(adviseLogin(other, 'sallyport login')).toEqual(other);
  });

  it('an unexpected error is exit code 1, without a stack', () => {
    const { description, exitCode } = toThrownFailure(new TypeError('boom'), false);
    expect([description, exitCode]).toEqual(['TypeError: boom', 1]);
    expect(toThrownFailure('text', false).exitCode).toBe(1);
  });

  it('is talk on stderr, or one JSON object on stdout, neither with a secret', () => {
    const failure = { error: 'e', description: 'no canary', hint: 'h', exitCode: 1 } as const;
    const plain = listen();
    expect(reportFailure(failure, false, plain.stdio)).toBe(1);
    expect([plain.out, plain.error]).toEqual([[], ['sallyport: no canary', '  h']]);
    const json = listen();
    reportFailure(failure, true, json.stdio);
    expect(json.error).toEqual([]);
    expect(JSON.parse(json.out.join())).toEqual({
      ok: false,
      error: 'e',
      description: 'no [secret]',
      hint: 'h',
    });
  });

  it('without a person to ask it is one line that names what to set', () => {
    const { description, exitCode } = loginRequiredFailure('CI is set', 'https://p');
    expect(exitCode).toBe(4);
    expect(description.split('\n')).toHaveLength(1);
    for (const name of [
      'CORE_CREDENTIALS_CLIENT_ID',
      'CORE_CREDENTIALS_CLIENT_SECRET',
      'EAGER_API_KEY',
    ])
      expect(description).toContain(name);
  });
});
