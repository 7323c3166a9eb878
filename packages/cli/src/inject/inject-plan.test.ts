import { describe, expect, it } from 'vitest';
import { type InjectOptions, planInjection } from './inject-plan.ts';

const OPTIONS: InjectOptions = {
  listen: '0.0.0.0:8443',
  tlsCert: 'tls.crt',
  tlsKey: '/etc/tls/tls.key',
  drainDelay: '5s',
};

describe('The options of sallyport inject', () => {
  it('become addresses, absolute paths and milliseconds', () => {
    expect(planInjection({ ...OPTIONS, metrics: '[::1]:9464' }, '/srv')).toEqual({
      ok: true,
      value: {
        listen: { host: '0.0.0.0', port: 8443 },
        paths: { certificate: '/srv/tls.crt', key: '/etc/tls/tls.key' },
        metrics: { host: '::1', port: 9464 },
        drainDelayMs: 5_000,
      },
    });
  });

  it.each([
    [{ listen: '8443' }, '--listen is HOST:PORT'],
    [{ listen: '0.0.0.0:70000' }, '--listen is HOST:PORT'],
    [{ metrics: ':9464' }, '--metrics is HOST:PORT'],
    [{ drainDelay: 'soon' }, '--drain-delay is a duration'],
    [{ drainDelay: '6m' }, '--drain-delay is a duration of at most 5m'],
  ])('are refused as %j', (wrong, sentence) => {
    expect(planInjection({ ...OPTIONS, ...wrong }, '/')).toMatchObject({
      ok: false,
      error: expect.stringContaining(sentence),
    });
  });
});
