import { SallyportError } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import type { RenewalOutcome } from '../../session/renewal/renewal.ts';
import { RecordingTracer } from '../../testing/recording-tracer.ts';
import { traceRenewal } from './trace-renewals.ts';

const AWAY = new SallyportError('SP_IDP_UNREACHABLE', { component: 'idp' });

describe('traceRenewal', () => {
  it('without a tracer only renews: off costs nothing', async () => {
    const renewal = Promise.resolve<RenewalOutcome>({ kind: 'renewed', byUs: true });
    expect(traceRenewal(() => renewal, undefined)).toBe(renewal);
  });

  it.each<readonly [RenewalOutcome, readonly string[]]>([
    [{ kind: 'renewed', byUs: true }, []],
    [{ kind: 'ended', byUs: 'renewal_refused' }, []],
    [{ kind: 'postponed', retryAfterMs: 1, cause: undefined }, []],
    [{ kind: 'postponed', retryAfterMs: 1, cause: AWAY }, ['SP_IDP_UNREACHABLE']],
  ])('says the outcome of %j in a trace of its own', async (outcome, failures) => {
    const tracer = new RecordingTracer();
    expect(await traceRenewal(async () => outcome, tracer)).toBe(outcome);
    expect(tracer.spans).toMatchObject([
      {
        kind: 'apart',
        name: 'session renewal',
        attributes: { 'sallyport.outcome': outcome.kind },
        failures,
      },
    ]);
  });
});
