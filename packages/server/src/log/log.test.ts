import { SallyportError } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import { describeFailure } from './log.ts';

const CANARY = 'canary-7f3a';

function failureOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

function withCode(code: unknown, message = `shown ${CANARY}`): Error {
  return Object.assign(new Error(message), { code });
}

describe('describeFailure', () => {
  it('never shows a message that could quote an input', () => {
    const failures = [
      failureOf(() => JSON.parse(`{"secret":"${CANARY}`)),
      failureOf(() => JSON.parse(CANARY)),
      failureOf(() => new URL(CANARY)),
      failureOf(() => decodeURIComponent(`%${CANARY}`)),
      failureOf(() => new Headers([[CANARY, '\n']])),
      new Error(`the token ${CANARY} is bad`),
      new TypeError(CANARY),
      withCode('ERR_INVALID_URL'),
      withCode('custom'),
      withCode('e_lower'),
      withCode(42),
      new AggregateError([new Error(CANARY)], CANARY),
      new Error('outer', { cause: new Error(CANARY, { cause: CANARY }) }),
      CANARY,
      { message: CANARY, code: 'SP_X' },
      Object.assign(new Error('x'), { [CANARY]: CANARY }),
    ];
    for (const failure of failures) {
      expect(describeFailure(failure)).not.toContain('7f3a');
      expect(
        describeFailure(
          new SallyportError('SP_STORE_UNAVAILABLE', { component: 'x', cause: failure }),
        ),
      ).not.toContain('7f3a');
    }
  });

  it.each([
    ['SP_KEY_RING_UNUSABLE'],
    ['ENOENT'],
    ['ECONNREFUSED'],
    ['ERR_SQLITE_ERROR'],
    ['ERR_TLS_CERT_ALTNAME_INVALID'],
    ['CERT_HAS_EXPIRED'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['SELF_SIGNED_CERT_IN_CHAIN'],
    ['OAUTH_TIMEOUT'],
    ['UND_ERR_CONNECT_TIMEOUT'],
  ])('shows the message of %s, which is fixed text', (code) => {
    expect(describeFailure(withCode(code, 'fixed text'))).toBe(`Error ${code}: fixed text`);
  });

  it('names each failure in a row of causes by class and code', () => {
    const cause = new TypeError('fetch failed', {
      cause: withCode('ECONNREFUSED', 'connect refused'),
    });
    const failure = new SallyportError('SP_IDP_UNREACHABLE', { component: 'idp', cause });
    expect(describeFailure(failure)).toBe(
      'SallyportError SP_IDP_UNREACHABLE (idp) <- TypeError: fetch failed <- Error ECONNREFUSED: connect refused',
    );
  });

  it.each([
    [
      'ENOSPC',
      'ENOSPC: no space left on device, write',
      'Error ENOSPC: no space left on device, write',
    ],
    ['ENOENT', 'ENOENT', 'Error ENOENT'],
    ['ENOENT', 'ENOENTRY', 'Error ENOENT: ENOENTRY'],
    ['ECONNREFUSED', 'connect ECONNREFUSED', 'Error ECONNREFUSED: connect ECONNREFUSED'],
    ['ECONNREFUSED', '', 'Error ECONNREFUSED'],
  ])('says the code %s once where the message begins with it: %j', (code, message, described) => {
    expect(describeFailure(withCode(code, message))).toBe(described);
  });

  it('reports a time-out', () => {
    const failure = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
    expect(describeFailure(failure)).toContain('TimeoutError');
  });

  it('is still there for what is no error, and ends with causes that go round', () => {
    for (const odd of [undefined, null, 7, 'text', {}, []])
      expect(describeFailure(odd)).toBe('unknown');
    const round = new Error('x');
    round.cause = round;
    expect(describeFailure(round).split(' <- ')).toHaveLength(5);
  });
});
