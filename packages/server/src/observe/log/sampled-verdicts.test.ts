import { Clock } from '@sallyport/testing/time/clock';
import { ClockTimers } from '@sallyport/testing/time/clock-timers';
import { describe, expect, it } from 'vitest';
import type { LogFields } from '../../log/log.ts';
import type { CheckRequest } from '../../verdict/check-request.ts';
import type { Admitted, Refused, Undecided } from '../../verdict/verdict.ts';
import { createVerdictLog } from './sampled-verdicts.ts';

const ADMITTED: Admitted = {
  outcome: 'admitted',
  identity: {
    principal: { issuer: 'https://idp.example', subject: 'ada', kind: 'user' },
    user: {} as Admitted['identity']['user'],
    headers: [],
    body: { camelCase: '{}', snakeCase: '{}' },
    claims: {},
  },
  session: { id: 7, generation: 1, createdAt: 0, endsAt: 1, absoluteEnd: 1 },
  setCookie: undefined,
  renewal: undefined,
};
const REFUSED: Refused = { outcome: 'refused', reason: 'session_expired' };
const UNDECIDED: Undecided = {
  outcome: 'undecided',
  reason: 'store_unavailable',
  retryAfterSeconds: 1,
};

function toRequest(changes: Partial<CheckRequest> = {}): CheckRequest {
  return {
    method: 'GET',
    headers: { 'x-request-id': 'request-0001' },
    rawHeaders: [],
    transport: 'http',
    ...changes,
  };
}

/** Numbers one after the other, the same for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function setup(sampleSuccesses: number, random: () => number = createRandom(1)) {
  const timers = new ClockTimers(new Clock());
  const lines: [string, string, LogFields | undefined][] = [];
  const { observe, close } = createVerdictLog({
    log: (...line) => lines.push([line[0], line[1], line[2]]),
    sampleSuccesses,
    random,
    schedule: timers.schedule,
  });
  const verdicts = () => lines.filter(([, event]) => event === 'verdict');
  return { timers, lines, verdicts, observe, close };
}

describe('admissions', () => {
  it('are not written at all with a sample of 0, and each one with a sample of 1', () => {
    const [none, all] = [setup(0), setup(1)];
    for (let count = 0; count < 1_000; count += 1) {
      none.observe('me', ADMITTED, toRequest());
      all.observe('me', ADMITTED, toRequest());
    }
    expect(none.lines).toEqual([]);
    expect(all.verdicts()).toHaveLength(1_000);
  });

  it('are written in the configured share', () => {
    for (const share of [0.5, 0.1, 0.01]) {
      const { observe, verdicts } = setup(share, createRandom(7));
      for (let count = 0; count < 100_000; count += 1) observe('me', ADMITTED, toRequest());
      expect(verdicts().length / 100_000).toBeGreaterThan(share * 0.85);
      expect(verdicts().length / 100_000).toBeLessThan(share * 1.15);
    }
  });

  it('cost one draw a line, and nothing of the request is read for those that are passed over', () => {
    let draws = 0;
    const random = createRandom(3);
    const { observe, verdicts } = setup(0.01, () => {
      draws += 1;
      return random();
    });
    const unread = new Proxy(toRequest(), {
      get: () => {
        throw new Error('read');
      },
    });
    let written = 0;
    for (let count = 0; count < 10_000; count += 1) {
      try {
        observe('me', ADMITTED, unread);
      } catch {
        written += 1;
      }
    }
    expect([draws, verdicts().length]).toEqual([written + 1, 0]);
    expect(written).toBeGreaterThan(50);
  });

  it('stay within small numbers whatever is drawn', () => {
    for (const drawn of [0, 0.5, 1 - 2 ** -32]) {
      const { observe } = setup(Number.MIN_VALUE, () => drawn);
      for (let count = 0; count < 10; count += 1) observe('me', ADMITTED, toRequest());
    }
  });

  it('are reported with who, what, where to, and under which ids', () => {
    const { observe, lines } = setup(1);
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const headers = {
      'x-request-id': 'request-0001',
      traceparent: `00-${trace}-b7ad6b7169203331-01`,
    };
    const target = '/projects/one?token=canary-7f3a';
    observe('me', ADMITTED, toRequest({ method: 'PUT', headers, target }));
    expect(lines).toEqual([
      [
        'info',
        'verdict',
        {
          door: 'me',
          outcome: 'admitted',
          reason: undefined,
          issuer: 'https://idp.example',
          subject: 'ada',
          session: 'AAAAAAAH',
          method: 'PUT',
          path: '/projects/one',
          request_id: 'request-0001',
          trace_id: trace,
        },
      ],
    ]);
  });
});

describe('the path of a verdict', () => {
  const pathOf = (target: string, headers: CheckRequest['headers'] = {}) => {
    const { observe, lines } = setup(0);
    observe('gateway', REFUSED, toRequest({ target, headers }));
    return lines[0]?.[2]?.['path'];
  };

  it.each([
    ['/a/b?code=canary', '/a/b'],
    ['/a#canary', '/a'],
    ['/a;jsessionid=canary', '/a'],
    [`/${'a'.repeat(500)}`, `/${'a'.repeat(255)}`],
    ['http://ada:canary@platform.example/a?b', '/a'],
    ['*', undefined],
  ])('of %s is %s', (target, path) => {
    expect(pathOf(target)).toBe(path);
  });

  it('is the one that the door names, and never read from a header', () => {
    expect(pathOf('/mine', { 'x-original-uri': '/theirs' })).toBe('/mine');
  });
});

describe('what is refused or undecided', () => {
  it('is written, also without a sample', () => {
    const { observe, verdicts } = setup(0);
    observe('me', REFUSED, toRequest());
    observe('service', UNDECIDED, toRequest());
    expect(verdicts().map(([, , fields]) => [fields?.['outcome'], fields?.['reason']])).toEqual([
      ['refused', 'session_expired'],
      ['undecided', 'store_unavailable'],
    ]);
  });

  it('is bounded, each for itself, and the log says how many were left out', async () => {
    const { observe, verdicts, lines, timers, close } = setup(0);
    for (let count = 0; count < 1_000; count += 1) observe('me', REFUSED, toRequest());
    expect(verdicts()).toHaveLength(50);
    observe('me', UNDECIDED, toRequest());
    expect(verdicts()).toHaveLength(51);
    await timers.advance(1_000);
    expect(lines.at(-1)).toEqual([
      'warn',
      'events_suppressed',
      { suppressed_event: 'verdict refused', suppressed: 950 },
    ]);
    close();
    expect(timers.pending).toBe(0);
  });

  it('names the id that the answer has when the request brought none', () => {
    const { observe, verdicts } = setup(0);
    const request = toRequest({ headers: {} });
    observe('me', REFUSED, request);
    observe('me', REFUSED, request);
    const [one, other] = verdicts().map(([, , fields]) => fields?.request_id);
    expect(one).toMatch(/^[\da-f-]{36}$/);
    expect(other).toBe(one);
  });
});
