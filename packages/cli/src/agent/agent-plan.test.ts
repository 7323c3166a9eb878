import { expect, it } from 'vitest';
import { planAgent } from './agent-plan.ts';

const CONFIG = { config: 'c.yaml' };

it('paths begin in the folder of the command, and the port of the loopback may be a free one', () => {
  const options = { socket: 'run/s', tokenFile: '/t', header: true, listen: '[::1]:0' };
  const metrics = '0.0.0.0:9464';
  const planned = planAgent({ ...CONFIG, ...options, capabilityFile: 'cap', metrics }, '/home/ada');
  expect(planned).toEqual({
    ok: true,
    value: {
      configFile: '/home/ada/c.yaml',
      block: undefined,
      tokenFile: { path: '/t', isHeaderLine: true },
      socketPath: '/home/ada/run/s',
      loopback: { host: '::1', port: 0, capabilityFile: '/home/ada/cap' },
      metrics: { host: '0.0.0.0', port: 9464 },
    },
  });
});

it.each([
  [{}, 'give --token-file, --socket or --listen'],
  [{ listen: '0.0.0.0:80', capabilityFile: 'c' }, '--listen is 127.0.0.1:PORT'],
  [{ listen: 'localhost:80', capabilityFile: 'c' }, '--listen is 127.0.0.1:PORT'],
  [{ listen: '127.0.0.1:65536', capabilityFile: 'c' }, '--listen is 127.0.0.1:PORT'],
  [{ listen: '127.0.0.1', capabilityFile: 'c' }, '--listen is 127.0.0.1:PORT'],
  [{ listen: '127.0.0.1:0' }, '--listen needs --capability-file'],
  [{ socket: 's', capabilityFile: 'c' }, '--capability-file is for --listen alone'],
  [{ socket: 's', metrics: '9464' }, '--metrics is HOST:PORT'],
  [{ socket: 's', header: true }, '--header is about the token file'],
  [{ tokenFile: './x/../c.yaml' }, '--config and --token-file name the same path'],
  [{ socket: 's', tokenFile: '/s' }, '--token-file and --socket name the same path'],
  [
    { tokenFile: 't', listen: '127.0.0.1:0', capabilityFile: 't' },
    '--token-file and --capability-file name the same path',
  ],
])('%j does not fit together', (options, said) => {
  const planned = planAgent({ ...CONFIG, ...options }, '/');
  expect(planned.ok).toBe(false);
  expect(planned.ok ? '' : planned.error).toContain(said);
});
