import { accept } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import { found, type Probe } from '../graph/probe.ts';
import { type ProbeResult, runProbes } from '../graph/run-probes.ts';
import type { Ask } from '../network/exchange.ts';
import type { ObtainedToken } from './grants.ts';
import { createAdmissionProbe } from './token.ts';

const TOKEN = 'a-token-that-is-live';

function answering<V>(id: string, value: V): Probe<V> {
  return { id, group: 'config', title: id, needs: [], run: () => found(value) };
}

/** What is sent, and what becomes of the probe, for a platform at this address. */
async function show(address: string, origins: readonly string[]) {
  const sent: { readonly url: string; readonly token: string | null }[] = [];
  const ask: Ask = async (url, init) => {
    sent.push({ url, token: new Headers(init?.headers).get('authorization') });
    const headers = new Headers();
    return accept({ url, status: 200, headers, text: '', sentAt: 0, receivedAt: 0 });
  };
  const obtained = {
    accessToken: TOKEN,
    clientId: 'a',
    name: 'the service',
    askedAt: 0,
    showWords: String,
  };
  const token: Probe<ObtainedToken> = answering('token', obtained);
  const header = answering('header', 'authorization');
  const ready = answering('ready', new URL(address));
  const probe = createAdmissionProbe('client.1', token, { header, ready, origins }, ask);
  const results = await runProbes([token, header, ready, probe], {
    schedule: () => () => {},
    probeTimeoutMs: 1_000,
    signal: new AbortController().signal,
  });
  return { sent, result: results.at(-1) as ProbeResult };
}

describe('The token of a service', () => {
  it.each(['https://platform.example', 'http://127.0.0.1:8080', 'http://localhost:8080'])(
    'is shown to the configured platform %s',
    async (address) => {
      const { sent, result } = await show(address, ['https://other.example', address]);
      expect(sent).toEqual([{ url: `${address}/me`, token: `Bearer ${TOKEN}` }]);
      expect(result.status).toBe('ok');
    },
  );

  it.each([
    ['one letter more in the domain', 'https://platforms.example', ['https://platform.example']],
    ['another port', 'https://platform.example:8443', ['https://platform.example']],
    ['plain http in place of https', 'http://platform.example', ['https://platform.example']],
    [
      'an address below the same domain',
      'https://a.platform.example',
      ['https://platform.example'],
    ],
    ['an address that no configuration names', 'https://platform.example', []],
    ['another address of this machine', 'http://127.0.0.1:8080', ['http://localhost:8080']],
  ])('is not shown to a platform that differs: %s', async (_, address, origins) => {
    const { sent, result } = await show(address, origins);
    expect(sent).toEqual([]);
    expect(result).toMatchObject({ status: 'skip', findings: [] });
    expect(result.why).toContain(`no configuration names ${address}`);
  });

  it('is not shown over plain http off this machine, although a configuration names it', async () => {
    const { sent, result } = await show('http://platform.example', ['http://platform.example']);
    expect(sent).toEqual([]);
    expect(result).toMatchObject({ status: 'skip', findings: [] });
    expect(result.why).toContain('plain http');
  });
});
