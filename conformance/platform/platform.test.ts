import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerWith, type FakeIdp, startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { callGrpc } from '../wire/grpc.ts';
import { callConnect } from '../wire/rpc.ts';
import { type RunningPlatform, type Shown, startPlatform } from './pods.ts';

/** Time for services to fail, and to come back, on a busy machine. */
const ROUND_MS = 150_000;

let platform: RunningPlatform;
beforeAll(async () => {
  platform = await startPlatform();
}, ROUND_MS);
afterAll(() => platform.stop());

/** Where each service has its Secret, as the requirement's table "Secrets holding the client secret" says. */
const MOUNTS: Readonly<Record<string, string>> = {
  admin: 'etc/secrets',
  scheduler: 'etc/secrets',
  executions: 'etc/secrets/union',
  cluster: 'etc/secrets/union',
  usage: 'etc/secrets/union',
  propeller: 'etc/union/secret',
  operator: 'etc/union/secret',
  'cluster-resource-sync': 'etc/union/secret',
  executor: 'etc/union/secret',
};
const SERVICES = Object.keys(MOUNTS);
const ALL = [...SERVICES, 'task-pod'];

const isCalling = ({ state }: Shown): boolean => state === 'calling';

describe('Every service of the platform', () => {
  it('reaches its peer through the gateway, as the service app; the task pod as the client of its API key', async () => {
    const shown = await platform.read();
    expect([...shown.keys()].toSorted()).toEqual(ALL.toSorted());
    for (const { name, state, client, token } of shown.values()) {
      expect(state, name).toBe('calling');
      const known = name === 'task-pod' ? /^api-key-\w+$/ : /^sallyport-service$/;
      expect(client, name).toMatch(known);
      expect(token, name).toMatch(/^in \d+ min$/);
    }
  });

  it('is refused by its peer without a token', async () => {
    const shown = await platform.until(({ bare }) => bare !== '…');
    for (const { name, bare } of shown.values())
      expect(bare, name).toMatch(/^refused \((?:401|unauthenticated)\)$/);
  });

  it.each([
    ['executions', '/cloudidl.execution.ExecutionService/Ping', '/execution/caller'],
    ['cluster', '/cloudidl.cluster.ClusterService/Ping', '/cluster/caller'],
    ['usage', '/cloudidl.usage.UsageService/Ping', '/usage/caller'],
  ])('that accepts calls lets in none without a token: %s', async (_, method, path) => {
    expect((await fetch(platform.url + path)).status).toBe(401);
    expect((await callConnect(platform.url + method)).status).toBe(401);
    expect((await callGrpc(platform.url + method)).status).toBe(16);
  });

  it('has its secret at the mount path of the requirement, and nothing of it in its configuration or log', () => {
    const secret = readFileSync(join(platform.state, 'idp', 'service-client-secret'), 'utf8');
    for (const name of SERVICES) {
      const folder = platform.fileOf(name, MOUNTS[name] ?? '');
      expect(lstatSync(folder).isSymbolicLink(), name).toBe(true);
      expect(readFileSync(join(folder, 'client_secret'), 'utf8'), name).toBe(secret);
      const beside = folder.endsWith('/union') ? ['client_secret', 'pass.txt'] : ['client_secret'];
      expect(readdirSync(folder).toSorted(), name).toEqual(beside);
      const config = readFileSync(platform.fileOf(name, 'config.yaml'), 'utf8');
      expect(config).toContain(`${folder}/client_secret`);
      expect(config + JSON.stringify(platform.log(name))).not.toContain(secret);
    }
  });

  it('of the data plane has neither token endpoint nor scopes configured, and a refresh window of 5 minutes', () => {
    const blockOf = (name: string): Readonly<Record<string, unknown>> => {
      const { admin, union } = parse(readFileSync(platform.fileOf(name, 'config.yaml'), 'utf8'));
      return union?.auth ?? admin;
    };
    for (const name of ['propeller', 'operator', 'cluster-resource-sync', 'executor']) {
      expect(blockOf(name), name).toMatchObject({ tokenRefreshWindow: '5m' });
      expect(Object.keys(blockOf(name)), name).not.toContain('tokenUrl');
      expect(Object.keys(blockOf(name)), name).not.toContain('scopes');
    }
    expect(blockOf('cluster')).toMatchObject({ tokenUrl: expect.any(String), scopes: ['all'] });
  });
});

/** Service, what is wrong with its Secret, the keys that it holds, and what its line names. */
const WRONG: readonly (readonly [
  string,
  string,
  Readonly<Record<string, string>> | undefined,
  string,
])[] = [
  [
    'admin',
    'the key client_secret is missing beside others',
    { app_secret: 'canary-other', 'tls.crt': 'canary-other' },
    'found no such key beside app_secret, tls.crt, expected the key client_secret in the mounted Secret',
  ],
  [
    'executions',
    'the control plane service secret holds pass.txt alone',
    { 'pass.txt': 'canary-other' },
    'found no such key beside pass.txt, the database password',
  ],
  [
    'cluster',
    'there are quotes around it',
    { client_secret: '"canary-other"' },
    'found quotes around the secret, which are kept',
  ],
  ['usage', 'it is empty', { client_secret: '' }, 'found an empty file'],
  [
    'propeller',
    'it is the stand-in value of the chart',
    { client_secret: 'placeholder' },
    'found a stand-in value, as a chart or an example has it',
  ],
  [
    'operator',
    'cloud-secret-auth is missing',
    undefined,
    'found no folder to read it from, expected a mounted Secret that holds the key client_secret',
  ],
  [
    'cluster-resource-sync',
    'cloud-secret-auth lacks client_secret',
    { app_secret: 'canary-other' },
    'found no such key beside app_secret',
  ],
  [
    'executor',
    'the secret synchronization has not completed',
    { oidc_client_secret: 'canary-other' },
    'the key client_secret, which the secret synchronization (ExternalSecret) adds: it has not completed',
  ],
  [
    'scheduler',
    'core-secret-auth is missing',
    undefined,
    'core-secret-auth: /etc/secrets/client_secret: admin.clientSecretLocation (client_secret): found no folder to read it from',
  ],
];

describe('A wrong secret in the running platform', () => {
  let broken: Map<string, Shown>;
  let right: Map<string, Shown>;
  beforeAll(async () => {
    for (const [name, , keys] of WRONG) platform.remount(name, MOUNTS[name] ?? '', keys);
    broken = await platform.until(
      ({ name, state, error }) =>
        (state === 'failing' || state === 'waiting') &&
        WRONG.some(([service, , , line]) => service === name && error.includes(line)),
      SERVICES,
    );
    platform.putRight();
    right = await platform.until(isCalling);
  }, ROUND_MS);

  it.each(WRONG)('%s: %s; the line in its log names it', (name, _, __, line) => {
    expect(broken.get(name)?.error).toContain(line);
    const lines = platform
      .log(name)
      .filter(({ level }) => level === 'error')
      .map(({ failure, cause }) => String(failure ?? cause))
      .map((words) => words.replaceAll(platform.fileOf(name, ''), ''));
    expect(lines.filter((words) => words.includes(line))).not.toEqual([]);
    expect(lines.join()).not.toContain('canary');
  });

  it.each(SERVICES.filter((name) => name !== 'scheduler'))(
    'put right, %s goes on without being started again',
    (name) => {
      const startOf = (shown: Shown | undefined) =>
        /since restart \d+/.exec(shown?.calls ?? '')?.[0];
      expect(startOf(broken.get(name))).toBe('since restart 1');
      expect(startOf(right.get(name))).toBe('since restart 1');
    },
  );

  it('without core-secret-auth the scheduler exits with the cause, is started again, and comes up once the secret is there', () => {
    const events = platform.log('scheduler').map(({ event }) => event);
    const last = events.lastIndexOf('ending');
    expect(events.filter((event) => event === 'ending').length).toBeGreaterThan(1);
    expect(events.slice(last + 1)).toContain('call_admitted');
    expect(right.get('scheduler')?.calls).toMatch(/^[1-9]\d* admitted since restart (?!1$)\d+$/);
  });
});

describe('A wrong setting in the running platform', () => {
  let idp: FakeIdp;
  let broken: Map<string, Shown>;
  beforeAll(async () => {
    idp = await startFakeIdp('sallyport-service');
    idp.answers.set('/token', answerWith(400, { error: 'access_denied' }));
    platform.configure('cluster', (text) => text.replace('enable: true', 'enable: false'));
    platform.configure('propeller', (text) =>
      text.replace('clientId: sallyport-service', 'clientId: another-service'),
    );
    platform.configure('operator', (text) =>
      text.replace(/^( *)clientId:/m, `$1tokenUrl: ${idp.issuer}/token\n$&`),
    );
    platform.configure('scheduler', (text) => text.replace('enabled: true', 'enabled: false'));
    platform.configure('executor', (text) =>
      text.replace('injectSecret: true', 'injectSecret: false'),
    );
    broken = await platform.until(
      ({ state }) => state === 'failing' || state === 'waiting',
      ['cluster', 'propeller', 'operator', 'scheduler', 'task-pod'],
    );
    // It is started again, and again finds the cause.
    await vi.waitFor(
      () => expect(platform.log('scheduler').filter(names('enabled')).length).toBeGreaterThan(1),
      { timeout: 30_000, interval: 250 },
    );
    platform.putRight();
    await platform.until(isCalling);
  }, ROUND_MS);
  afterAll(() => idp.close());

  const names = (text: string) => (line: object) => JSON.stringify(line).includes(text);

  it('union.auth.enable that is not true: the calls are answered 401, and the lines name the setting', () => {
    expect(broken.get('cluster')).toMatchObject({
      error: expect.stringMatching(
        /^usage answered 401 \(\w+\); union\.auth\.enable is false, so no token was sent$/,
      ),
      client: 'none',
    });
    expect(platform.log('cluster')).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        problem: expect.stringContaining(
          'union.auth.enable: found false, expected true: without it internal services receive 401',
        ),
      }),
    );
    expect(platform.log('cluster').filter(names('usage answered 401'))).not.toEqual([]);
  });

  it('AUTH_CLIENT_ID that differs from INTERNAL_CLIENT_ID: propeller gets no token, and its line names both', () => {
    const line = platform.log('propeller').find(names('another-service'));
    expect(line).toMatchObject({
      level: 'error',
      failure: expect.stringMatching(
        /invalid_client.*AUTH_CLIENT_ID \(data plane\) has to equal INTERNAL_CLIENT_ID/,
      ),
    });
    expect(broken.get('propeller')?.error).toBe(
      String(line?.['failure']).replace(/ since \d{4}-\S+Z/, ''),
    );
  });

  it('a service app that is not in the access policy: the operator’s line names the policy', () => {
    expect(idp.counts.token + idp.requests.length).toBeGreaterThan(0);
    const line = platform.log('operator').find(names('access_denied'));
    expect(line).toMatchObject({
      level: 'error',
      failure: expect.stringContaining(
        'an access policy of the identity provider does not admit this account or client',
      ),
    });
    expect(broken.get('operator')?.error).toBe(
      String(line?.['failure']).replace(/ since \d{4}-\S+Z/, ''),
    );
  });

  it('adminOauthClientCredentials.enabled that is not true: the scheduler exits with the cause, is started again, and comes up once it is', () => {
    const lines = platform.log('scheduler');
    expect(lines.find(names('enabled'))).toMatchObject({
      event: 'ending',
      cause: expect.stringMatching(
        /config\.yaml:\d+: secrets\.adminOauthClientCredentials\.enabled: found false, expected true: without it the secret core-secret-auth is not mounted$/,
      ),
    });
    expect(broken.get('scheduler')?.error).toContain('adminOauthClientCredentials.enabled');
    expect(lines.at(-1)).toMatchObject({ event: 'call_admitted' });
  });

  it('without the API key the task pod ends at once and says what to provision; with it alone it calls: there is no other toggle', () => {
    const made = platform.log('executor').filter(({ event }) => event === 'task_pod_made');
    expect(made.map(({ outcome }) => outcome)).toContain('switched_off');
    expect(made.at(-1)).toMatchObject({ outcome: 'injected' });
    const lines = platform.log('task-pod');
    expect(lines.find(names('EAGER_API_KEY'))).toMatchObject({
      event: 'ending',
      cause: expect.stringContaining('apiKey (EAGER_API_KEY): found nothing'),
    });
    expect(lines.at(-1)).toMatchObject({ event: 'call_admitted' });
  });
});

describe.skipIf(process.platform !== 'linux')('A process that is killed', () => {
  const listServices = (): readonly string[] => {
    const { pid } = platform.running;
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  };

  it('of a service is started again, and calls', async () => {
    const before = await platform.read();
    const [first = ''] = listServices();
    process.kill(Number(first), 'SIGKILL');
    const KILLED = 'it ended with SIGKILL';
    const after = await vi.waitFor(
      async () => {
        const shown = await platform.read();
        const killed = [...shown.values()].filter(({ error }) => error === KILLED);
        expect(killed).toEqual([expect.objectContaining({ state: 'calling' })]);
        return killed[0];
      },
      { timeout: 30_000, interval: 250 },
    );
    expect(before.get(after?.name ?? '')?.error).not.toBe(KILLED);
    expect(listServices()).not.toContain(first);
    await platform.until(isCalling);
  });

  it('and is that of "sallyport up", takes all services with it', async () => {
    const services = listServices();
    expect(services).toHaveLength(ALL.length);
    expect(services.filter(isRunning)).toEqual(services);
    await platform.running.kill();
    await expect.poll(() => services.filter(isRunning), { timeout: 10_000 }).toEqual([]);
  });
});

/** A process that has ended may still have an entry, as a zombie. */
function isRunning(pid: string): boolean {
  try {
    return !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
