import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { BearerIssuerConfig } from '../bearer-config.ts';
import { loadConfig } from '../load-config.ts';
import { formatConfigProblem } from '../problems.ts';
import { redactConfig } from '../redact-config.ts';

const ENV = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_BASE_URL: 'https://idp.example.com',
  OIDC_CLIENT_ID: 'web',
  CLI_CLIENT_ID: 'native',
};

function load(text: string) {
  return loadConfig({ file: { path: 'c', text }, env: ENV, flags: {} }, 'serve');
}

function problemsOf(text: string): readonly string[] {
  const result = load(text);
  return result.ok ? [] : result.error.map(formatConfigProblem);
}

const ISSUER = `
bearer:
  subjectPrefix: 'one:'
  issuers:
    - issuer: https://other.example.com
      subjectPrefix: 'two:'
`;

describe('a list of mappings', () => {
  it('gives each mapping its values, and defaults where it has none', () => {
    const result = load(`${ISSUER}      audiences: [urn:two, urn:three]\n`);
    expect(result.ok && result.value.config.bearer.issuers).toEqual([
      {
        issuer: 'https://other.example.com',
        metadataUrl: '',
        audiences: ['urn:two', 'urn:three'],
        algorithms: expect.arrayContaining(['RS256', 'PS256', 'ES256', 'EdDSA']),
        clientIdClaims: ['client_id', 'azp', 'cid', 'appid'],
        scopeClaims: ['scope', 'scp'],
        subjectClaim: 'sub',
        subjectPrefix: 'two:',
        emailTrusted: false,
      } satisfies BearerIssuerConfig,
    ]);
  });

  it('is frozen through and through', () => {
    const result = load(ISSUER);
    const [issuer] = result.ok ? result.value.config.bearer.issuers : [];
    expect(Object.isFrozen(issuer)).toBe(true);
    expect(Object.isFrozen(issuer?.audiences)).toBe(true);
  });

  it('is printed so that it can be read again', () => {
    const result = load(ISSUER);
    if (!result.ok) throw new Error('refused');
    const printed = redactConfig(result.value.config) as { readonly bearer: unknown };
    const again = load(stringify({ bearer: printed.bearer }));
    expect(again.ok && again.value.config).toEqual(result.value.config);
  });

  it.each([
    ['{}', 'c:2: bearer.issuers: found a mapping, expected a list of issuers, each a mapping'],
    [
      '[https://a.example]',
      'c:2: bearer.issuers[0]: found "https://a.example", expected a mapping of issuer, metadataUrl, audiences, algorithms, clientIdClaims, scopeClaims, subjectClaim, subjectPrefix, emailTrusted',
    ],
    [
      '[{subjectPrefix: "x:"}]',
      'c:2: bearer.issuers[0].issuer: found nothing, expected an issuer URL such as https://idp.example.com',
    ],
  ])('is reported with what is wrong with it as a whole: %s', (value, problem) => {
    expect(problemsOf(`bearer:\n  issuers: ${value}\n`)).toEqual([problem]);
  });

  it.each([
    [
      'metadataUrl: ftp://x',
      'c:7: bearer.issuers[0].metadataUrl: found "ftp://x", expected an endpoint URL such as https://idp.example.com/token',
    ],
    [
      'algorithms: [RS256, HS256]',
      'c:7: bearer.issuers[0].algorithms[1]: found "HS256", expected one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519: every party that can verify such a signature can also make it',
    ],
    [
      'algorithms: [none]',
      'c:7: bearer.issuers[0].algorithms[0]: found "none", expected one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519: a token without a signature proves nothing',
    ],
    [
      'algorithms: []',
      'c:7: bearer.issuers[0].algorithms: found a list of 0, expected a list of signature algorithms, at least one',
    ],
    [
      'clientIdClaims: []',
      'c:7: bearer.issuers[0].clientIdClaims: found a list of 0, expected a list of names of claims, at least one',
    ],
    [
      'emailTrusted: yes',
      'c:7: bearer.issuers[0].emailTrusted: found "yes", expected true or false',
    ],
    [
      'subjectClaim: [sub]',
      'c:7: bearer.issuers[0].subjectClaim: found a list of 1, expected the name of a claim',
    ],
    [
      'clientSecret: hunter2',
      'c:7: bearer.issuers[0].clientSecret: found an unknown key, expected one of issuer, metadataUrl, audiences, algorithms, clientIdClaims, scopeClaims, subjectClaim, subjectPrefix, emailTrusted',
    ],
    [
      'issuer: https://again.example.com',
      'c:7: bearer.issuers[0].issuer: found the key again, first on line 5, expected every key once',
    ],
    [
      'audiences:\n        - urn:a\n        - 7',
      'c:9: bearer.issuers[0].audiences[1]: found 7, expected an audience, in quotes',
    ],
  ])('is reported with what is wrong in it, on its own line: %s', (line, problem) => {
    expect(problemsOf(`${ISSUER}      ${line}\n`)).toEqual([problem]);
  });

  it('has every wrong entry reported at once', () => {
    const text = 'bearer:\n  issuers:\n    - 7\n    - issuer: x\n      audience: y\n    - {}\n';
    expect(problemsOf(text).map((problem) => problem.replace(/: found.*/, ''))).toEqual([
      'c:3: bearer.issuers[0]',
      'c:4: bearer.issuers[1].issuer',
      'c:5: bearer.issuers[1].audience',
      'c:6: bearer.issuers[2].issuer',
    ]);
  });
});
