import { describe, expect, it } from 'vitest';
import { loadConfig } from '../load-config.ts';

const COMPLETE = `
publicUrl: https://platform.example.com
auth:
  appAuth: { thirdPartyConfig: { flyteClient: { clientId: cli } } }
  userAuth: { openId: { baseUrl: https://idp.example.com, clientId: web } }
`;

function load(traces: string) {
  const text = `${COMPLETE}observe: { traces: ${traces} }\n`;
  const loaded = loadConfig({ file: { path: 'c.yaml', text }, env: {}, flags: {} }, 'serve');
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return {
    traces: loaded.value.config.observe.traces,
    warned: loaded.value.warnings.filter(({ key }) => key.startsWith('observe.traces')),
  };
}

describe('observe.traces', () => {
  it('is off by default, with a hundredth of the requests and a bound for what others begin', () => {
    expect(load('{}').traces).toEqual({
      endpoint: '',
      sample: 0.01,
      continuedPerSecond: 100,
      headersFile: '',
      serviceName: 'sallyport',
    });
  });

  it.each([
    'http://collector:4318/v1/traces',
    'https://otlp.example.com/v1/traces',
    'http://127.0.0.1:4318/v1/traces',
  ])('takes the endpoint %s without headers, and warns of nothing', (endpoint) => {
    expect(load(`{ endpoint: '${endpoint}' }`)).toMatchObject({ traces: { endpoint }, warned: [] });
  });

  it.each([
    ['http://127.0.0.1:4318', 'http://127.0.0.1:4318/v1/traces'],
    ['http://collector:4318/', 'http://collector:4318/v1/traces'],
    ['https://otlp.example.com', 'https://otlp.example.com/v1/traces'],
  ])('warns of the endpoint %s, which has no path, and names the usual one', (endpoint, usual) => {
    expect(load(`{ endpoint: '${endpoint}' }`).warned).toMatchObject([
      {
        key: 'observe.traces.endpoint',
        line: 6,
        found: 'no path',
        expected: `the whole address, usually ${usual}`,
      },
    ]);
  });

  it('warns of a share without a collector to send it to, unless that is none', () => {
    expect(load('{ sample: 0.1 }').warned).toMatchObject([
      {
        key: 'observe.traces.endpoint',
        found: 'nothing',
        expected: 'a collector, which observe.traces.sample is for',
      },
    ]);
    expect(load('{ sample: 0 }').warned).toEqual([]);
    expect(load("{ endpoint: 'http://collector:4318/v1/traces', sample: 0.1 }").warned).toEqual([]);
  });

  it.each(['grpc://collector:4317', 'collector:4318', 'http://user:pw@collector/v1/traces'])(
    'does not take %s',
    (endpoint) => {
      expect(() => load(`{ endpoint: '${endpoint}' }`)).toThrow('observe.traces.endpoint');
    },
  );

  it.each([
    ['http://collector:4318/v1/traces', 1],
    ['http://127.0.0.1.example.com/v1/traces', 1],
    ['', 1],
    ['https://otlp.example.com/v1/traces', 0],
    ['http://localhost:4318/v1/traces', 0],
    ['http://[::1]:4318/v1/traces', 0],
  ])('with a file of headers and the endpoint %j gives %i warnings', (endpoint, count) => {
    expect(load(`{ endpoint: '${endpoint}', headersFile: /etc/headers }`).warned).toHaveLength(
      count,
    );
  });
});
