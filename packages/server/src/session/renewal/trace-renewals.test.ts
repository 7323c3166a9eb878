import { SallyportError } from '@sallyport/protocol';
import { RecordingTracer } from '@sallyport/testing/server/recording-tracer';
import { describe, expect, it } from 'vitest';
import { createEventCounts } from '../../observe/metrics/metrics-events.ts';
import type { RenewalOutcome } from './renewal.ts';
import { traceRenewal } from './trace-renewals.ts';

const AWAY = new SallyportError('SP_IDP_UNREACHABLE', { component: 'idp' });

const OUTCOMES: readonly (readonly [RenewalOutcome, string, readonly string[]])[] = [
  [{ kind: 'renewed', byUs: true }, 'renewed', []],
  [{ kind: 'renewed', byUs: false }, 'renewed', []],
  [{ kind: 'kept', check: 'iss' }, 'unverified', []],
  [{ kind: 'ended', byUs: 'renewal_refused' }, 'refused', []],
  [{ kind: 'ended', byUs: 'renewal_lost' }, 'lost', []],
  [{ kind: 'ended', byUs: undefined }, 'gone', []],
  [{ kind: 'postponed', retryAfterMs: 1, cause: undefined }, 'postponed', []],
  [{ kind: 'postponed', retryAfterMs: 1, cause: AWAY }, 'failed', ['SP_IDP_UNREACHABLE']],
];
/** Reported by the span alone: another process renewed, or no renewal was sent this time. */
const NOT_COUNTED = ['gone', 'postponed'];
/** Counted while it goes on; a span is reported at its end. */
const NO_END = ['unanswered'];

describe('traceRenewal', () => {
  it('says what sallyport_renewals_total counts, in its words', () => {
    const counted = createEventCounts()
      .read()
      .find(({ name }) => name === 'sallyport_renewals_total')
      ?.values.map(({ labels }) => String(labels['result']));
    const reported = OUTCOMES.map(([, said]) => said).filter((said) => !NOT_COUNTED.includes(said));
    expect(new Set([...reported, ...NO_END])).toEqual(new Set(counted));
  });

  it('without a tracer only renews: off costs nothing', async () => {
    const renewal = Promise.resolve<RenewalOutcome>({ kind: 'renewed', byUs: true });
    expect(traceRenewal(() => renewal, undefined)).toBe(renewal);
  });

  it.each(OUTCOMES)(
    'says the outcome of %j in a trace of its own: %s',
    async (outcome, said, failures) => {
      const tracer = new RecordingTracer();
      expect(await traceRenewal(async () => outcome, tracer)).toBe(outcome);
      expect(tracer.spans).toMatchObject([
        {
          kind: 'apart',
          name: 'session renewal',
          attributes: { 'sallyport.outcome': said },
          failures,
        },
      ]);
    },
  );
});
