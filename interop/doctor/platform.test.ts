import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../../conformance/wire/platform.ts';
import { run } from '../../conformance/wire/process.ts';

interface Found {
  readonly ok: boolean;
  readonly findings: readonly {
    readonly code: string;
    readonly what: string;
    readonly fix: string;
  }[];
  readonly probes: readonly { readonly id: string; readonly status: string }[];
}

describe('The doctor at a platform with its services', () => {
  let plane: Plane;
  let variables: Readonly<Record<string, string>>;

  beforeAll(async () => {
    plane = await startPlane(['--platform']);
    const text = readFileSync(join(plane.state, 'deployment.env'), 'utf8');
    const all = [...text.matchAll(/^(\w+)='([^']*)'$/gm)];
    // What a service has in its file would yield to these.
    const kept = all.filter(([, name = '']) => !/^(?:INTERNAL|AUTH)_/.test(name));
    variables = Object.fromEntries(kept.map(([, name = '', value = '']) => [name, value]));
  });
  afterAll(() => plane.stop());

  const configOf = (pod: string): string => join(plane.state, 'platform/pods', pod, 'config.yaml');
  const listPods = (): readonly string[] =>
    readdirSync(join(plane.state, 'platform/pods')).filter((pod) =>
      readdirSync(join(plane.state, 'platform/pods', pod)).includes('config.yaml'),
    );

  /** Looks at the running platform, and at these files of its services. */
  async function examine(files: readonly string[], env = variables): Promise<Found> {
    const clients = files.flatMap((file) => ['--client-config', file]);
    const args = ['doctor', plane.url, '--skip', 'machine', '--json', ...clients];
    const { stdout } = await run(args, env);
    return JSON.parse(stdout) as Found;
  }

  /** The files of all pods, with one line of one pod changed. */
  function withChanged(pod: string, pattern: RegExp, line: string): readonly string[] {
    const text = readFileSync(configOf(pod), 'utf8');
    expect(text).toMatch(pattern);
    const changed = join(plane.state, `${pod}-changed.yaml`);
    writeFileSync(changed, text.replace(pattern, line));
    return listPods().map((each) => (each === pod ? changed : configOf(each)));
  }

  it('finds nothing wrong, with the files of every service', async () => {
    const pods = listPods();
    expect(pods.length).toBeGreaterThan(5);
    const { ok, findings, probes } = await examine(pods.map(configOf));
    expect([ok, findings]).toEqual([true, []]);
    const admitted = probes.filter(({ id }) => id.endsWith('.admission'));
    expect(admitted.length).toBeGreaterThan(5);
    expect(admitted.filter(({ status }) => status !== 'ok')).toEqual([]);
  });

  it.each([
    [
      'operator',
      /clientSecretLocation: .*/,
      'clientSecretLocation: /nowhere/client_secret',
      'secret_folder_missing',
    ],
    ['operator', /enable: true/, 'enable: false', 'service_auth_disabled'],
    ['operator', /clientId: .*/, 'clientId: another-app', 'client_ids_differ'],
    ['executions', /tokenUrl: .*/, 'tokenUrl: http://127.0.0.1:1/token', 'connection_refused'],
    ['executions', /- all/, '- nosuch', 'token_scope_missing'],
  ])('names what is wrong with %s alone: %s', async (pod, pattern, line, code) => {
    const { findings } = await examine(withChanged(pod, pattern, line));
    expect(findings[0]?.code).toBe(code);
  });

  it.each([
    ['scheduler', /enabled: true/, 'enabled: false', 'scheduler_secret_not_enabled'],
    ['executor', /injectSecret: true/, 'injectSecret: false', 'config_warning'],
  ])(
    'names what the file of %s alone switches off, with --offline too',
    async (pod, pattern, line, code) => {
      withChanged(pod, pattern, line);
      const file = join(plane.state, `${pod}-changed.yaml`);
      for (const offline of [[], ['--offline']]) {
        const args = ['doctor', plane.url, '--skip', 'machine', '--json', '--client-config', file];
        const { stdout } = await run([...args, ...offline], {});
        const { findings } = JSON.parse(stdout) as Found;
        expect(findings.map((finding) => finding.code)).toEqual([code]);
      }
    },
  );

  it('is named without a scheme where it is on this machine, over http', async () => {
    const args = ['--skip', 'machine', '--client-config', configOf('operator')];
    const { stdout } = await run(['doctor', new URL(plane.url).host, ...args], {});
    expect(stdout).toMatch(/Nothing is wrong: \d+ checks passed, \d+ skipped\./);
    const wrong = await run(['doctor', `https://${new URL(plane.url).host}`, ...args], {});
    expect(wrong.stdout).toContain('--ca-file .sallyport/tls/ca.pem');
    expect(wrong.stdout).toContain('See: docs/doctor.md#certificate_untrusted');
  });

  it('tries the credential of a file without tokenUrl as the service does, with no other configuration', async () => {
    const seen = await examine([configOf('operator')], {});
    expect([seen.ok, seen.findings]).toEqual([true, []]);
    expect(seen.probes.find(({ id }) => /^grants\.client\.\d$/.test(id))?.status).toBe('ok');
    const pattern = /clientId: .*/;
    withChanged('operator', pattern, 'clientId: another-app');
    const { findings } = await examine([join(plane.state, 'operator-changed.yaml')], {});
    expect(findings.map(({ code }) => code)).toEqual(['client_or_secret_wrong']);
  });

  it('does not try it where the file is for another platform, and does not say that nothing is wrong', async () => {
    withChanged('operator', /endpoint: .*/, 'endpoint: dns:///localhost:1');
    const file = join(plane.state, 'operator-changed.yaml');
    const args = ['doctor', plane.url, '--skip', 'machine', '--client-config', file];
    const { stdout } = await run(args, {});
    expect(stdout).toContain('the file names no tokenUrl; add --config');
    expect(stdout).not.toContain('Nothing is wrong');
    expect(stdout).toContain('1 credential was not tried');
  });
});
