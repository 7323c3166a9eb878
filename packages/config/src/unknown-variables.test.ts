import { describe, expect, it } from 'vitest';
import { formatConfigProblem } from './problems.ts';
import { SETTINGS } from './schema/schema.ts';
import { findUnknownVariables } from './unknown-variables.ts';

const warningsOf = (env: Readonly<Record<string, string>>) =>
  findUnknownVariables(env).map(formatConfigProblem);

describe('A variable that begins with SALLYPORT_', () => {
  it('and that nothing reads is named, with the one that was probably meant', () => {
    expect(warningsOf({ SALLYPORT_STATE_DIR: '/x', SALLYPORT_LOGLEVEL: 'debug' })).toEqual([
      'environment: SALLYPORT_LOGLEVEL: found a variable that nothing reads, expected SALLYPORT_LOG_LEVEL (did you mean that?)',
      'environment: SALLYPORT_STATE_DIR: found a variable that nothing reads, expected a variable of docs/configuration.md',
    ]);
  });

  it('never has its value shown', () => {
    expect(warningsOf({ SALLYPORT_CLIENT_SECRET: 'canary' }).join()).not.toContain('canary');
  });

  it('and that a setting or a command reads is not named', () => {
    const ofSettings = SETTINGS.flatMap(({ setting }) => setting.variable ?? []);
    const all = [...ofSettings, 'SALLYPORT_CONFIG', 'SALLYPORT_PROFILE', 'SALLYPORT_TOKEN_STORE'];
    expect(warningsOf(Object.fromEntries(all.map((name) => [name, 'x'])))).toEqual([]);
  });

  it('and that is empty counts as not set', () => {
    expect(warningsOf({ SALLYPORT_STATE_DIR: '' })).toEqual([]);
  });

  it('and that Kubernetes sets beside a Service named sallyport is not named, but the port of an operator is', () => {
    expect(
      warningsOf({
        SALLYPORT_SERVICE_HOST: '10.0.0.1',
        SALLYPORT_SERVICE_PORT: '80',
        SALLYPORT_SERVICE_PORT_HTTP: '80',
        SALLYPORT_PORT: 'tcp://10.0.0.1:80',
        SALLYPORT_PORT_80_TCP: 'tcp://10.0.0.1:80',
        SALLYPORT_PORT_80_TCP_ADDR: '10.0.0.1',
        SALLYPORT_PORT_80_TCP_PORT: '80',
        SALLYPORT_PORT_80_TCP_PROTO: 'tcp',
        SALLYPORT_ADMIN_SERVICE_HOST: '10.0.0.2',
      }),
    ).toEqual([]);
    expect(warningsOf({ SALLYPORT_PORT: '8080' })).toHaveLength(1);
  });

  it('is all that is looked at', () => {
    expect(warningsOf({ PATH: '/bin', MY_SALLYPORT_X: 'x', OIDC_BASE_ULR: 'x' })).toEqual([]);
  });
});
