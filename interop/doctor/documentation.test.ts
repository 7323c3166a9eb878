import { readFileSync } from 'node:fs';
import { CAUSES } from '@sallyport/doctor';
import { describe, expect, it } from 'vitest';
import { DOCTOR_DOCS, renderDoctorDocs } from '../../tools/generate-doctor-docs.ts';
import { FAULTS } from './faults.ts';
import { listViolations, type Schema } from './json-schema.ts';

const SCHEMA = JSON.parse(
  readFileSync(new URL('../../docs/doctor.schema.json', import.meta.url), 'utf8'),
) as Schema;

/** Causes that no plane on one machine can have, with the test that makes them. */
const MADE_ELSEWHERE: Readonly<Record<string, string>> = {
  certificate_expired: 'packages/doctor/src/probes/host.test.ts',
  certificate_expires_soon: 'packages/doctor/src/probes/host.test.ts',
  certificate_other_name: 'packages/doctor/src/probes/host.test.ts',
  certificate_untrusted: 'packages/doctor/src/probes/host.test.ts',
  cluster_unreachable: 'packages/doctor/src/probes/cluster.test.ts',
  injection_not_done: 'interop/cluster/doctor-injection.test.ts',
  kubernetes_too_old: 'packages/doctor/src/probes/versions.test.ts',
  keyring_unusable: 'packages/cli/src/doctor/machine-probes.test.ts',
  no_route: 'packages/doctor/src/probes/host.test.ts',
  secret_unreadable: 'packages/config/src/client-secret-file.process.test.ts',
  profiles_share_platform: 'packages/cli/src/doctor/machine-probes.test.ts',
  proxy_for_this_machine: 'packages/cli/src/doctor/machine-probes.test.ts',
  redirect_port_taken: 'packages/cli/src/doctor/machine-probes.test.ts',
  token_store_unsafe: 'packages/cli/src/doctor/machine-probes.test.ts',
  variable_overrides_login: 'packages/cli/src/doctor/machine-probes.test.ts',
  webhook_unreachable: 'interop/cluster/doctor-injection.test.ts',
  probe_failed: 'packages/doctor/src/graph/run-probes.test.ts',
  probe_unfinished: 'packages/doctor/src/graph/run-probes.test.ts',
};

describe('docs/doctor.md', () => {
  it('is what the causes and the faults say', () => {
    expect(readFileSync(DOCTOR_DOCS, 'utf8')).toBe(renderDoctorDocs());
  });

  it('has every cause, each made by a fault or by the test that is named', () => {
    const made = new Set<string>([
      ...FAULTS.map(({ cause }) => cause),
      ...Object.keys(MADE_ELSEWHERE),
    ]);
    expect(Object.keys(CAUSES).filter((code) => !made.has(code))).toEqual([]);
    for (const [code, file] of Object.entries(MADE_ELSEWHERE))
      expect([code, readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')]).toEqual([
        code,
        expect.stringContaining(code === 'secret_unreadable' ? 'may not read' : code),
      ]);
  });

  it('has each fault once', () => {
    const names = FAULTS.map(({ fault }) => fault);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });
});

describe('docs/errors.md, what one sees', () => {
  const errors = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const [, chapter = ''] = errors.split('\n## What one sees, and its causes\n');
  const rows = (chapter.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| What one sees |'));
  const codesOf = (row: string): readonly string[] =>
    [...row.matchAll(/doctor\.md#(\w+)\)/g)].map(([, code = '']) => code);

  it('has every cause of the requirement, each with a code that a fault makes', () => {
    const made = new Set<string>([
      ...FAULTS.map(({ cause }) => cause),
      ...Object.keys(MADE_ELSEWHERE),
    ]);
    for (const cause of [
      'routes sit behind the auth subrequest',
      'the token endpoint is unreachable',
      'the configured header differs from `core-authorization`',
      '`server.security.useAuth` is not true',
      '`union.auth.enable` is not true',
      'the `client_secret` file is missing at `clientSecretLocation`',
      'the secret synchronization has not completed',
      'the Secret lacks the key `client_secret`',
      '`cloud-secret-auth` is missing',
      '`cloud-secret-auth` lacks `client_secret`',
      '`AUTH_CLIENT_ID` differs from `INTERNAL_CLIENT_ID`',
      "not in the authorization server's access policy",
      '`core-secret-auth` is missing in the control plane namespace',
      '`adminOauthClientCredentials.enabled` is not true',
    ]) {
      const row = rows.find((line) => line.includes(cause)) ?? '';
      const codes = codesOf(row);
      expect([cause, codes.length > 0, codes.filter((code) => !made.has(code))]).toEqual([
        cause,
        true,
        [],
      ]);
    }
  });

  it('links to sections that are there', () => {
    const unknown = rows.flatMap(codesOf).filter((code) => !Object.hasOwn(CAUSES, code));
    expect(unknown).toEqual([]);
  });
});

describe('docs/doctor.schema.json', () => {
  const finding = {
    code: 'not_tls',
    severity: 'fail',
    probe: 'issuer.tls',
    what: 'w',
    evidence: ['e'],
    fix: 'f',
    docs: 'docs/doctor.md#not_tls',
  };
  const probe = {
    id: 'issuer.tls',
    group: 'tls',
    title: 't',
    status: 'skip',
    why: 'needs issuer.tcp',
  };
  const report = { version: 1, ok: false, findings: [finding], probes: [probe] };

  it('admits a report', () => {
    expect(listViolations(SCHEMA, report)).toEqual([]);
  });

  it.each<readonly [string, unknown, string]>([
    ['another version', { ...report, version: 2 }, '$.version: const'],
    ['a member that is not named', { ...report, more: 1 }, '$: additionalProperties'],
    ['no findings', { version: 1, ok: true, probes: [] }, '$: required'],
    [
      'an unknown severity',
      { ...report, findings: [{ ...finding, severity: 'bad' }] },
      '$.findings[0].severity: enum',
    ],
    [
      'evidence that is no text',
      { ...report, findings: [{ ...finding, evidence: [1] }] },
      '$.findings[0].evidence[0]: type',
    ],
    [
      'a link to elsewhere',
      { ...report, findings: [{ ...finding, docs: 'https://x.example' }] },
      '$.findings[0].docs: pattern',
    ],
  ])('refuses %s', (_, value, violation) => {
    expect(listViolations(SCHEMA, value)).toContain(violation);
  });
});
