import { canonicalHeaderName, type HeaderPair } from '@sallyport/protocol';
import { POLICY } from '@sallyport/testing/gateway/running-gateway';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildUpstreamHeaders } from './upstream-headers.ts';

const IDENTITY: readonly HeaderPair[] = [['x-user-subject', 'ada']];

function build(rawHeaders: readonly string[], forwardCredential: 'none' | 'all' = 'none') {
  return buildUpstreamHeaders({
    exchange: { rawHeaders, peerAddress: '192.0.2.7' },
    group: { forwardCredential },
    identityHeaders: IDENTITY,
    requestId: 'request-1',
    publicOrigin: new URL('https://flows.example.org:8443'),
    policy: POLICY,
  });
}

const OWN: readonly HeaderPair[] = [
  ['x-user-subject', 'ada'],
  ['x-forwarded-for', '192.0.2.7'],
  ['x-forwarded-host', 'flows.example.org:8443'],
  ['x-forwarded-proto', 'https'],
  ['x-request-id', 'request-1'],
];

describe('buildUpstreamHeaders', () => {
  it.each([
    'Forwarded',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Forwarded-Uri',
    'X-Forwarded-Prefix',
    'X_Forwarded_For',
    'x-forwarded_port',
    'X-Forwarded',
    'X-Original-URL',
    'X-Original-Method',
    'X_Original_Uri',
    'X-Rewrite-URL',
    'X-Real-IP',
    'True-Client-IP',
    'X-HTTP-Method-Override',
    'X-Method-Override',
    'Host',
    'Expect',
    'X-Request-Id',
    'X_Request_Id',
    'X-User-Subject',
    'X_User_Subject',
    'X-USER-Claim-Groups',
    'Core-Authorization',
    'X-Secret-Hint',
    'Grpc-Metadata-X-User-Subject',
    'Grpc_Metadata_X-User-Subject',
    'Grpc-Metadata-Authorization',
    'Grpc-Metadata-Core-Authorization',
    'Grpc-Metadata-Cookie',
    'Grpc-Metadata-X-Secret-Hint',
    'Grpcgateway-Cookie',
    'Userinfo-Bin',
    'X-Auth-Request-Anything',
    'X-Envoy-Original-Path',
    'X-Scheme',
    'X-Url-Scheme',
    'Front-End-Https',
    'X-Sent-From',
    'X-Sallyport-Verdict-Key',
    'Transfer_Encoding',
    'Content_Length',
  ])('replaces what a client claims in %s', (name) => {
    expect(build([name, 'evil'])).toEqual(OWN);
  });

  it('passes a trace on as it came: the parent of a backend is the span of the caller', () => {
    const trace: readonly HeaderPair[] = [
      ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
      ['tracestate', 'vendor=a,other=b'],
    ];
    expect(build(trace.flat())).toEqual(expect.arrayContaining([...trace]));
  });

  it.each(['Accept', 'X-Forward', 'Origin', 'Content-Type', 'Grpc-Metadata-Tenant'])(
    'passes %s on',
    (name) => {
      expect(build([name, 'fine'])).toEqual([[name.toLowerCase(), 'fine'], ...OWN]);
    },
  );

  it('GHSA-w9mr: a Connection option takes nothing away that the gateway states', () => {
    const options = 'x-user-subject, x-forwarded-for, x-request-id, x-forwarded-host, close';
    expect(build(['Connection', options])).toEqual(OWN);
  });

  it('RFC 9113 8.2.3: joins cookies, less ours', () => {
    const raw = ['cookie', 'a=1', 'cookie', 'core_session=s', 'cookie', 'core_login_0=x; b=2'];
    expect(build(raw)).toEqual([
      ['x-user-subject', 'ada'],
      ['cookie', 'a=1; b=2'],
      ...OWN.slice(1),
    ]);
  });

  it('forwards every credential to the authentication service, sign-in attempts included', () => {
    const raw = ['cookie', 'core_session=s; core_login_0=x', 'core-authorization', 'Bearer t'];
    expect(build(raw, 'all')).toEqual([
      ['core-authorization', 'Bearer t'],
      ['x-user-subject', 'ada'],
      ['cookie', 'core_session=s; core_login_0=x'],
      ...OWN.slice(1),
    ]);
  });

  it('forwards no credential behind a prefix, even where it forwards all of them', () => {
    const raw = ['Grpc-Metadata-Authorization', 'Bearer t', 'grpcgateway-cookie', 'core_session=s'];
    expect(build(raw, 'all')).toEqual(OWN);
  });

  it('never lets a spelling of a stated name through twice', () => {
    const spelling = fc
      .tuple(
        fc.constantFrom('x-user-subject', 'x-forwarded-for', 'x-original-url', 'forwarded'),
        fc.array(fc.constantFrom('-', '_'), { minLength: 3, maxLength: 3 }),
        fc.boolean(),
      )
      .map(([name, marks, isUpper]) => {
        const spelt = name
          .split('-')
          .reduce((left, right, index) => left + marks[index - 1] + right);
        return isUpper ? spelt.toUpperCase() : spelt;
      });
    fc.assert(
      fc.property(fc.array(spelling, { maxLength: 5 }), (names) => {
        const built = build(names.flatMap((name) => [name, 'evil']));
        expect(built.filter(([, value]) => value === 'evil')).toEqual([]);
        const canonical = built.map(([name]) => canonicalHeaderName(name));
        expect(new Set(canonical).size).toBe(canonical.length);
      }),
    );
  });
});
