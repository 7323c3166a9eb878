import { describe, expect, it } from 'vitest';
import { found, type Probe } from '../graph/probe.ts';
import { runProbes } from '../graph/run-probes.ts';
import type { Network, ShownCertificate } from '../network/network.ts';
import { createHostProbes } from './host.ts';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const DAY_MS = 86_400_000;
const GOOD: ShownCertificate = {
  problem: '',
  subject: 'idp.example',
  issuer: 'Example CA',
  names: 'DNS:idp.example',
  validTo: NOON + 60 * DAY_MS,
};

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}

async function look(changed: Partial<Network>, url = 'https://idp.example') {
  const network: Network = {
    fetch: () => Promise.reject(new Error('nothing is sent')),
    lookup: async () => ['192.0.2.1'],
    connect: async () => {},
    showCertificate: async () => GOOD,
    findProxy: () => undefined,
    hears: async () => false,
    ...changed,
  };
  const address: Probe<URL> = {
    id: 'issuer.address',
    group: 'config',
    title: 'address',
    needs: [],
    run: () => found(new URL(url)),
  };
  const place = { id: 'issuer', name: 'the identity provider', address, setting: 'OIDC_BASE_URL' };
  const results = await runProbes(createHostProbes(place, network, () => NOON).all, {
    schedule: () => () => {},
    probeTimeoutMs: 1_000,
    signal: new AbortController().signal,
  });
  return {
    findings: results.flatMap(({ findings }) => findings),
    codes: results.flatMap(({ findings }) => findings.map(({ code }) => code)),
    statuses: results.map(({ id, status }) => `${id} ${status}`),
  };
}

describe('From a name to TLS', () => {
  it('is well with a name, a connection and a certificate', async () => {
    expect(await look({})).toMatchObject({
      codes: [],
      statuses: ['issuer.address ok', 'issuer.dns ok', 'issuer.tcp ok', 'issuer.tls ok'].toSorted(
        (a, b) => Number(a.includes('address')) - Number(b.includes('address')),
      ),
    });
  });

  it.each([
    ['CERT_HAS_EXPIRED', 'certificate_expired'],
    ['CERT_NOT_YET_VALID', 'certificate_expired'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate_other_name'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate_untrusted'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate_untrusted'],
    ['A_CODE_THAT_IS_NEW', 'certificate_untrusted'],
  ])('%s is %s, with subject, issuer and names as evidence', async (problem, code) => {
    const { codes, findings } = await look({ showCertificate: async () => ({ ...GOOD, problem }) });
    expect(codes).toEqual([code]);
    expect(findings[0]?.evidence.join(' ')).toContain('issuer Example CA');
    expect(findings[0]?.evidence.join(' ')).toContain(problem);
  });

  it.each([
    [13, ['certificate_expires_soon']],
    [15, []],
  ])('a certificate with %i days left gives %j', async (days, codes) => {
    const validTo = NOON + days * DAY_MS;
    const looked = await look({ showCertificate: async () => ({ ...GOOD, validTo }) });
    expect(looked.codes).toEqual(codes);
    expect(looked.statuses).toContain(`issuer.tls ${codes.length > 0 ? 'warn' : 'ok'}`);
  });

  it.each([
    ['EHOSTUNREACH', 'no_route'],
    ['ETIMEDOUT', 'no_route'],
    ['ECONNREFUSED', 'connection_refused'],
  ])('%s at every address is %s', async (code, cause) => {
    const connect = () => Promise.reject(withCode(code));
    const { codes, statuses } = await look({ connect });
    expect(codes).toEqual([cause]);
    expect(statuses).toContain('issuer.tls skip');
  });

  it('one address of several that answers is enough', async () => {
    const connect = (address: string) =>
      address === '192.0.2.2' ? Promise.resolve() : Promise.reject(withCode('EHOSTUNREACH'));
    expect(
      (await look({ lookup: async () => ['2001:db8::1', '192.0.2.2'], connect })).codes,
    ).toEqual([]);
    expect((await look({ lookup: async () => ['2001:db8::1'], connect })).codes).toEqual([
      'no_route',
    ]);
  });

  it('a name that is not there, and one that cannot be looked up now, are distinguished', async () => {
    const whats = await Promise.all(
      ['ENOTFOUND', 'EAI_AGAIN'].map(async (code) => {
        const { findings } = await look({ lookup: () => Promise.reject(withCode(code)) });
        return findings[0]?.what;
      }),
    );
    expect(whats[0]).toContain('there is no name idp.example');
    expect(whats[1]).toContain('cannot be looked up now');
  });

  it('a server that does not speak TLS is named', async () => {
    const showCertificate = () => Promise.reject(withCode('ERR_SSL_WRONG_VERSION_NUMBER'));
    expect((await look({ showCertificate })).codes).toEqual(['not_tls']);
    expect((await look({ showCertificate }, 'http://idp.example')).codes).toEqual([]);
  });

  it('behind a proxy nothing is looked up or connected to from here', async () => {
    const never = () => Promise.reject(withCode('ENOTFOUND'));
    const findProxy = () => 'http://proxy.example';
    expect((await look({ lookup: never, connect: never, findProxy })).codes).toEqual([]);
    expect((await look({ lookup: never, connect: never })).codes).toEqual(['name_unknown']);
  });

  it('words of a certificate are one printable line', async () => {
    const subject = 'a\u001b[2J\nb';
    const { findings } = await look({
      showCertificate: async () => ({ ...GOOD, subject, problem: 'CERT_HAS_EXPIRED' }),
    });
    expect(findings[0]?.evidence.join(' ')).toContain('subject a [2J b');
  });
});
