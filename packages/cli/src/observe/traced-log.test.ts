import type { Log, Tracer } from '@sallyport/server/observe';
import { describe, expect, it } from 'vitest';
import { traceLog } from './traced-log.ts';

const tracerAt = (traceId: string | undefined): Tracer =>
  ({ currentTraceId: () => traceId }) as unknown as Tracer;

function linesOf(traceId: string | undefined): unknown[] {
  const lines: unknown[] = [];
  const log = traceLog((...line) => lines.push(line), tracerAt(traceId));
  log('info', 'stopping', { session: 'x' });
  log('warn', 'configuration');
  return lines;
}

describe('traceLog', () => {
  it('without a tracer is the very same log: off costs nothing', () => {
    const log: Log = () => {};
    expect(traceLog(log, undefined)).toBe(log);
  });

  it('names the trace in lines of a request that is traced', () => {
    expect(linesOf('0af7651916cd43dd8448eb211c80319c')).toEqual([
      ['info', 'stopping', { session: 'x', trace_id: '0af7651916cd43dd8448eb211c80319c' }],
      ['warn', 'configuration', { trace_id: '0af7651916cd43dd8448eb211c80319c' }],
    ]);
  });

  it('changes nothing of any other line', () => {
    expect(linesOf(undefined)).toEqual([
      ['info', 'stopping', { session: 'x' }],
      ['warn', 'configuration', undefined],
    ]);
  });
});
