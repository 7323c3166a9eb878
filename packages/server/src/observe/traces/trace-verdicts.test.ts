import { RecordedSpan, RecordingTracer } from '@sallyport/testing/server/recording-tracer';
import { describe, expect, it } from 'vitest';
import type { CheckRequest } from '../../verdict/check-request.ts';
import type { Verdict } from '../../verdict/verdict.ts';
import { traceVerdicts } from './trace-verdicts.ts';

const REQUEST: CheckRequest = {
  method: 'GET',
  headers: { cookie: 'canary-cookie' },
  rawHeaders: [],
  transport: 'http',
};
const REFUSED: Verdict = { outcome: 'refused', reason: 'no_credential' };
const ADMITTED = {
  outcome: 'admitted',
  identity: { user: { subject: 'canary-ada' } },
} as unknown as Verdict;

function spanOf(verdict: Verdict): RecordedSpan {
  const tracer = new RecordingTracer();
  const span = new RecordedSpan(tracer, 'request', { name: 'GET /me', attributes: {} });
  span.run(() => traceVerdicts(tracer)?.('me', verdict, REQUEST));
  return span;
}

describe('traceVerdicts', () => {
  it('is no observer without a tracer: off costs nothing', () => {
    expect(traceVerdicts(undefined)).toBeUndefined();
  });

  it('says door, outcome and reason in the span under way', () => {
    expect(spanOf(REFUSED)).toMatchObject({
      attributes: {
        'sallyport.door': 'me',
        'sallyport.outcome': 'refused',
        'sallyport.reason': 'no_credential',
      },
      failures: [],
    });
  });

  it('never says who was admitted, nor by what', () => {
    const span = spanOf(ADMITTED);
    expect(span.attributes).toEqual({ 'sallyport.door': 'me', 'sallyport.outcome': 'admitted' });
  });

  it('fails a span whose request could not be decided', () => {
    const span = spanOf({
      outcome: 'undecided',
      reason: 'store_unavailable',
      retryAfterSeconds: 1,
    });
    expect(span.failures).toEqual(['store_unavailable']);
  });

  it('says nothing where nothing is traced', () => {
    const tracer = new RecordingTracer();
    traceVerdicts(tracer)?.('me', REFUSED, REQUEST);
    expect(tracer.spans).toEqual([]);
  });
});
