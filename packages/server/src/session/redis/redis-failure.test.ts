import { SallyportError } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import {
  isFromChangedServer,
  isUnknownScript,
  storeUnavailable,
  storeUnsuitable,
  toStoreFailure,
} from './redis-failure.ts';

describe('a server’s refusal', () => {
  it.each([
    ["READONLY You can't write against a read only replica.", 'is a replica', true],
    ['UNBLOCKED force unblock from blocking operation', 'is a replica', true],
    ['MOVED 3999 127.0.0.1:6381', 'on another server', true],
    ['ASK 3999 127.0.0.1:6381', 'being moved', false],
    ['TRYAGAIN Multiple keys request during rehashing of slot', 'being moved', false],
    ['CLUSTERDOWN The cluster is down', 'cluster is down', true],
    ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is 'no'.", 'lost', true],
    ['LOADING Redis is loading the dataset in memory', 'loading', true],
    ['BUSY Redis is busy running a script.', 'busy', false],
    ["OOM command not allowed when used memory > 'maxmemory'.", 'full', false],
    ['MISCONF Redis is configured to save RDB snapshots', 'disk', false],
    ['NOREPLICAS Not enough good replicas to write.', 'too few replicas', false],
    ['WRONGPASS invalid username-password pair or user is disabled.', 'password', false],
    ['NOAUTH Authentication required.', 'password', true],
    ["NOPERM User ada has no permissions to run the 'get' command", 'docs/redis.md', false],
    // Older servers put a script's refusal behind words of their own.
    [
      "ERR Error running script (call to f_1): @user_script:1: -OOM command not allowed when used memory > 'maxmemory'.",
      'full',
      false,
    ],
    ['ERR Error running script (call to f_1): SALLYPORT record version', 'another release', false],
  ])('%s', (message, detail, changesServer) => {
    const failure = toStoreFailure(new Error(message));
    expect(failure).toMatchObject({
      code: 'SP_STORE_UNAVAILABLE',
      component: 'store:redis',
      retryAfterSeconds: 1,
    });
    expect(failure.message).toContain(detail);
    expect(failure.cause).toBeUndefined();
    expect(isFromChangedServer(new Error(message))).toBe(changesServer);
  });

  it('that is not known is not passed on: it may quote what was sent', () => {
    const message = "ERR unknown command 'x', with args beginning with: 'canary'";
    const failure = toStoreFailure(new Error(message));
    expect(failure.message).toBe(
      'SP_STORE_UNAVAILABLE (store:redis): the server refused a command',
    );
    expect(failure.cause).toBeUndefined();
  });

  it('is not read out of the middle of a word', () => {
    const failure = toStoreFailure(new Error('ERR something BOOMED'));
    expect(failure.message).toContain('refused a command');
    expect(isFromChangedServer(new Error('ERR REMOVED'))).toBe(false);
  });
});

describe('any other failure', () => {
  it('of the network is reported with its cause', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:6379'), {
      code: 'ECONNREFUSED',
    });
    const failure = toStoreFailure(cause);
    expect(failure.message).toContain('the server cannot be reached');
    expect(failure.cause).toBe(cause);
    expect(isFromChangedServer(cause)).toBe(false);
  });

  it('of ours stays what it is', () => {
    for (const error of [storeUnavailable('a'), storeUnsuitable('b')])
      expect(toStoreFailure(error)).toBe(error);
    expect(storeUnsuitable('b')).toBeInstanceOf(SallyportError);
    expect(storeUnsuitable('b').code).toBe('SP_STORE_UNSUITABLE');
  });
});

describe('a script the server does not know', () => {
  it('is distinguished from a refusal of one that it knows', () => {
    expect(isUnknownScript(new Error('NOSCRIPT No matching script.'))).toBe(true);
    expect(isUnknownScript(new Error('ERR NOSCRIPT'))).toBe(false);
    expect(isUnknownScript('NOSCRIPT')).toBe(false);
  });
});
