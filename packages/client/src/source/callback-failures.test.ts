import { setUpServices } from '@sallyport/testing/client/token-endpoint';
import { settled } from '@sallyport/testing/time/clock-timers';
import { afterEach, describe, expect, it, vi } from 'vitest';

const CANARY = 'c4n4ry';
const fail = (): never => {
  throw new Error(CANARY);
};
/** As a callback looks to which a program gave an async function. */
const reject = (): unknown => Promise.reject(new Error(CANARY));

afterEach(() => vi.restoreAllMocks());

describe.each([
  ['throws', fail],
  ['rejects', reject],
])('A callback that %s', (_, callback) => {
  it('onOutage: changes no outcome, and is one warning without the words of its error', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const world = setUpServices();
    world.endpoint.latencyMs = 0;
    world.endpoint.fault = 'down';
    const source = world.create({ onOutage: callback });
    await expect(source.get()).rejects.toMatchObject({ code: 'SP_IDP_UNREACHABLE' });
    await world.advance(60_000);
    expect(source.status().outage?.attempts).toBeGreaterThan(2);
    world.endpoint.fault = undefined;
    await world.advance(120_000);
    expect(await source.get()).toMatchObject({ ok: true, value: { accessToken: 'access-1' } });
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      'the callback onOutage failed; its failures are ignored',
      { code: 'SALLYPORT_CALLBACK_FAILED' },
    );
    source.close();
  });

  it('onTokens: changes no outcome, and is one warning', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const world = setUpServices();
    world.endpoint.latencyMs = 0;
    const source = world.create({ onTokens: callback });
    expect(await source.get()).toMatchObject({ ok: true, value: { accessToken: 'access-1' } });
    await settled();
    await world.advance(3_600_000);
    expect(await source.get()).toMatchObject({ ok: true, value: { accessToken: 'access-2' } });
    expect(warn).toHaveBeenCalledOnce();
    source.close();
  });
});
