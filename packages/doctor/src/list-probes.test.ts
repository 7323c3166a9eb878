import { parseEndpoint } from '@sallyport/client';
import { loadConfig } from '@sallyport/config';
import { describe, expect, it } from 'vitest';
import { fail } from './finding/finding.ts';
import { broken, found, type Probe } from './graph/probe.ts';
import { type ProbeResult, type RunOptions, runProbes } from './graph/run-probes.ts';
import { listProbes, PART_PROBES } from './list-probes.ts';
import type { ClientSubject, Subject } from './subject.ts';

const CONFIG = {
  publicUrl: 'https://platform.example',
  auth: {
    appAuth: { thirdPartyConfig: { flyteClient: { clientId: 'native-app' } } },
    userAuth: { openId: { baseUrl: 'https://idp.example', clientId: 'web-app' } },
  },
};

function toClient(file: string, tokenUrl: string): ClientSubject {
  const settings = {
    isEnabled: true,
    isService: true,
    clientId: 'service-app',
    clientSecret: { from: 'file', path: '/nowhere/client_secret', key: 'key' },
    endpoint: undefined,
    tokenUrl,
    authorizationHeader: '',
  } as unknown as NonNullable<ClientSubject['settings']>;
  return { file, block: 'union.auth', settings, problems: [], warnings: [] };
}

function load(file: object): NonNullable<Subject['server']> {
  const loaded = loadConfig(
    { file: { path: 'f', text: JSON.stringify(file) }, env: {}, flags: {} },
    'serve',
  );
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return { file: 'f', loaded: loaded.value };
}

function createSubject(changed: Partial<Subject> = {}): Subject {
  const fails = (): never => {
    throw new Error('nothing is asked here');
  };
  return {
    now: () => 0,
    network: {
      fetch: fails,
      lookup: fails,
      connect: fails,
      showCertificate: fails,
      findProxy: fails,
      hears: fails,
    },
    platformUrl: 'https://platform.example',
    platformSetting: 'publicUrl',
    server: load(CONFIG),
    problems: [],
    switchedOff: [],
    clients: [
      toClient('one', 'https://idp.example/token'),
      toClient('two', 'https://tokens.example/'),
    ],
    apiKey: '',
    cluster: undefined,
    nginx: undefined,
    further: [],
    ...changed,
  };
}

/** The same graph, whose probes are all well but for these, which find a fault. */
function withFaults(probes: readonly Probe[], faulty: ReadonlySet<string>): readonly Probe[] {
  const copies = new Map<Probe, Probe>();
  const copy = (probe: Probe): Probe => {
    const known = copies.get(probe);
    if (known !== undefined) return known;
    const made: Probe = {
      ...probe,
      needs: probe.needs.map(copy),
      after: (probe.after ?? []).map(copy),
      run: () =>
        faulty.has(probe.id) ? broken(fail('not_tls', probe.id, 'mend')) : found(undefined),
    };
    copies.set(probe, made);
    return made;
  };
  return probes.map(copy);
}

async function runWith(
  probes: readonly Probe[],
  faulty: readonly string[],
  options: Partial<RunOptions> = {},
) {
  const results = await runProbes(withFaults(probes, new Set(faulty)), {
    schedule: () => () => {},
    probeTimeoutMs: 1_000,
    signal: new AbortController().signal,
    ...options,
  });
  return new Map(results.map((result): [string, ProbeResult] => [result.id, result]));
}

const PROBES = listProbes(createSubject());

describe('The graph of a platform with its configuration', () => {
  it('has each probe once, and every one behind what it needs in the order of findings', () => {
    const ids = PROBES.map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(50);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, needs } of PROBES)
      for (const need of needs) expect([id, ids.includes(need.id)]).toEqual([id, true]);
  });

  it('names one fault, and of everything else says at most that it needs it', async () => {
    for (const { id } of PROBES) {
      const results = await runWith(PROBES, [id]);
      for (const [other, { status, why }] of results)
        if (other === id) expect(status).toBe('fail');
        else
          expect([other, status, why]).toEqual(
            why === '' ? [other, 'ok', ''] : [other, 'skip', `needs ${id}`],
          );
    }
  });

  it('asks a platform that is not running nothing, and the identity provider everything', async () => {
    const postponed = new Map([[PART_PROBES.platform, 'not running yet']]);
    const results = await runWith(PROBES, [], { postponed });
    const ofPlatform =
      /^(?:platform\.(?!address)|gate|metadata|headers|cookies|proxy|clocks\.platform)/;
    const ofIssuer = /^(?:issuer|clocks\.issuer|token|secrets|config|grants\.web$)/;
    for (const [id, { status, why }] of results) {
      if (ofPlatform.test(id)) expect([id, why]).toEqual([id, 'not running yet']);
      if (ofIssuer.test(id)) expect([id, status]).toEqual([id, 'ok']);
    }
  });

  it('does not look for a secret that is not written yet, and names no fault for it', async () => {
    const postponed = new Map([[PART_PROBES.webSecret, 'not written yet']]);
    const results = await runWith(PROBES, [PART_PROBES.webSecret], { postponed });
    for (const id of ['secrets.web', 'grants.web'])
      expect([results.get(id)?.status, results.get(id)?.why]).toEqual(['skip', 'not written yet']);
    expect([...results.values()].filter(({ status }) => status === 'fail')).toEqual([]);
  });

  it('names any two faults, or says that the one is hidden behind the other', async () => {
    let hidden = 0;
    let pairs = 0;
    for (const [at, one] of PROBES.entries())
      for (const two of PROBES.slice(at + 1)) {
        pairs += 1;
        const results = await runWith(PROBES, [one.id, two.id]);
        const [first, second] = [results.get(one.id), results.get(two.id)];
        const isNamed = first?.status === 'fail' && second?.status === 'fail';
        if (isNamed) continue;
        hidden += 1;
        const whys = [first?.why, second?.why];
        expect(
          [`needs ${one.id}`, `needs ${two.id}`].filter((why) => whys.includes(why)),
        ).toHaveLength(1);
        expect(new Set([first?.status, second?.status])).toEqual(new Set(['fail', 'skip']));
      }
    expect(pairs).toBe((PROBES.length * (PROBES.length - 1)) / 2);
    // Both kinds are there.
    expect(hidden).toBeGreaterThan(100);
    expect(hidden).toBeLessThan(pairs / 2);
  });

  it.each([
    ['is', '', true],
    ['is not', 'https://tokens.example', false],
  ])(
    'compares the published issuer only with one whose metadata are well, where that %s the issuer of people',
    (_, bearerIssuer, isNeeded) => {
      const { appAuth, userAuth } = CONFIG.auth;
      const externalAuthServer = { baseUrl: bearerIssuer };
      const other = {
        auth: {
          appAuth: { ...appAuth, externalAuthServer },
          userAuth: { ...userAuth, subjectPrefix: 'people:' },
        },
        bearer: { subjectPrefix: 'programs:' },
      };
      const file = { ...CONFIG, ...(bearerIssuer === '' ? {} : other) };
      const probes = listProbes(createSubject({ server: load(file) }));
      const compared = probes.find(({ id }) => id === 'metadata.issuer');
      const needs = compared?.needs.map(({ id }) => id);
      expect(needs).toEqual(isNeeded ? ['metadata.read', 'issuer.discovery'] : ['metadata.read']);
    },
  );

  it('asks nothing without a network', () => {
    const groups = new Set(
      listProbes(createSubject({ network: undefined })).map(({ group }) => group),
    );
    expect([...groups].toSorted()).toEqual(['config', 'secrets']);
  });

  it('sends no secret where no configuration names the token endpoint, and says so', async () => {
    const grantOf = (subject: Subject) =>
      listProbes(subject).find(({ id }) => id === 'grants.client.1');
    const unnamed = createSubject({ server: undefined, clients: [toClient('one', '')] });
    const grant = grantOf(unnamed);
    expect(grant?.needs).toEqual([]);
    expect(await grant?.run({} as never, new AbortController().signal)).toMatchObject({
      kind: 'skip',
      why: 'the file names no tokenUrl; add --config',
    });
    const named = createSubject({
      server: undefined,
      clients: [toClient('one', 'https://t.example/')],
    });
    expect(grantOf(named)?.needs).not.toEqual([]);
  });

  it.each([
    ['https://platform.example', 'https://platform.example', true],
    ['http://localhost:8080', 'http://localhost:8080', true],
    ['https://localhost:8080', 'http://localhost:8080', true],
    ['https://localhost', 'http://localhost', false],
    ['https://platform.example', 'https://other.example', false],
    ['http://platform.example', 'http://platform.example', false],
    ['https://platform.example:8443', 'https://platform.example', false],
  ])(
    'of a file for %s, asked at %s, tries the secret where the issuer confirms the platform: %s',
    (origin, platformUrl, isTried) => {
      const client = toClient('one', '');
      const endpoint = parseEndpoint(origin, origin === 'http://platform.example');
      if (!endpoint.ok || client.settings === undefined) throw new Error(origin);
      const settings = { ...client.settings, endpoint: endpoint.value };
      const changed = { server: undefined, platformUrl, clients: [{ ...client, settings }] };
      const probes = listProbes(createSubject(changed));
      const grant = probes.find(({ id }) => id === 'grants.client.1');
      const listNeeds = (probe: Probe): readonly string[] => [
        probe.id,
        ...probe.needs.flatMap(listNeeds),
      ];
      expect(grant && listNeeds(grant).includes('metadata.confirmed')).toBe(isTried);
      if (!isTried) expect(grant?.needs).toEqual([]);
    },
  );
});
