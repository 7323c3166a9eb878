import { describe, expect, it } from 'vitest';
import { openTraces } from './traces.ts';

const CONFIG = {
  endpoint: '',
  sample: 1,
  continuedPerSecond: 100,
  headersFile: '/nonexistent/headers',
  serviceName: 'sallyport',
};
const PORTS = { fetch, schedule: () => () => {}, log: () => {} };

describe('openTraces', () => {
  it('opens nothing without an endpoint, whatever else is configured', async () => {
    expect(await openTraces(CONFIG, PORTS)).toBeUndefined();
  });

  it('opens them with one', async () => {
    const config = { ...CONFIG, endpoint: 'http://127.0.0.1:1/v1/traces', headersFile: '' };
    const traces = await openTraces(config, PORTS);
    expect(traces?.tracer.currentTraceId()).toBeUndefined();
    await traces?.close();
  });
});
