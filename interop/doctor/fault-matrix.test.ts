import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { granting, honestClaims } from './fake-token-endpoint.ts';
import { openId, withNginx } from './fault.ts';
import { honestManifests } from './faults/cluster.ts';
import { injectionManifests } from './faults/injection.ts';
import { HONEST_VERSIONS } from './faults/versions.ts';
import { FAULTS } from './faults.ts';
import { type FaultyPlane, IDS, startFaultyPlane } from './faulty-plane.ts';

let plane: FaultyPlane;

beforeAll(async () => {
  plane = await startFaultyPlane();
});

afterEach(() => plane.mend());

afterAll(async () => {
  await plane.close();
});

describe('A plane that is well', () => {
  it('has no finding', async () => {
    const { ok, findings, probes } = await plane.examine();
    expect(findings).toEqual([]);
    expect(ok).toBe(true);
    expect(probes.length).toBeGreaterThan(40);
    const left = probes.filter(({ id, status }) => status !== 'ok' && !id.startsWith('machine.'));
    expect(left.map(({ id, why }) => `${id}: ${why}`)).toEqual([]);
  });
});

describe('An ingress that keeps verdicts by the bearer header and the cookie', () => {
  it('has no finding', async () => {
    plane.verdictKey = ({ headers }) =>
      `${headers.cookie} ${String(headers['core-authorization'])}`;
    expect((await plane.examine()).findings).toEqual([]);
  });
});

describe('The configuration that the chart renders, with a block admin that names no endpoint', () => {
  const admin = (plane: FaultyPlane) => ({
    clientId: IDS.service,
    clientSecretLocation: plane.write('admin_client_secret', plane.serviceSecret),
  });

  it('is for the platform at publicUrl, and has no finding', async () => {
    const { findings, probes } = await plane.examine({ config: { admin: admin(plane) } });
    expect(findings).toEqual([]);
    const service = probes.filter(({ id }) => id.startsWith('grants.client.1'));
    expect(service.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
  });

  it('is reported once where a key of the server is wrong', async () => {
    const config = { admin: admin(plane), session: { maxLifetim: '1h' } };
    const { findings } = await plane.examine({ config });
    expect(findings.map(({ code, what }) => `${code}: ${what}`)).toEqual([
      expect.stringMatching(/^config_invalid: .*session\.maxLifetim/),
    ]);
  });

  it('is reported at the block where that is wrong, too', async () => {
    const config = { admin: { ...admin(plane), authTyp: 'x' }, union: { auth: { clientId: '' } } };
    const { findings } = await plane.examine({ config });
    const keys = findings.map(({ what }) => /used: (\S+):/.exec(what)?.[1]).filter(Boolean);
    expect(keys).toHaveLength(2);
    expect(new Set(keys)).toEqual(new Set(['admin.authTyp', 'union.auth.clientId']));
  });
});

describe('An issuer that is configured wrong', () => {
  it('is one finding; what is compared with that issuer says that it needs its metadata', async () => {
    const { findings, probes } = await plane.examine({
      config: openId({ baseUrl: `${plane.issuer}/` }),
    });
    expect(findings.map(({ code }) => code)).toEqual(['issuer_slash']);
    const compared = probes.find(({ id }) => id === 'metadata.issuer');
    expect([compared?.status, compared?.why]).toEqual(['skip', 'needs issuer.discovery']);
  });
});

describe('Client IDs of web app and service app that are swapped', () => {
  it('are called swapped, with both places, and not a secret at the wrong place', async () => {
    const config = {
      auth: { userAuth: { openId: { clientId: IDS.service } } },
      union: { auth: { clientId: IDS.web } },
    };
    const { findings } = await plane.examine({ config });
    const [first] = findings;
    expect(first?.code).toBe('secret_of_another_app');
    expect(first?.what).toMatch(/client IDs or the secrets of the web app .* are swapped/);
    expect(first?.evidence).toHaveLength(2);
  });
});

describe('A file of nginx that is well', () => {
  it('has no finding', async () => {
    const { findings, probes } = await plane.examine(await withNginx((text) => text)(plane));
    expect(findings).toEqual([]);
    const nginx = probes.filter(({ id }) => id.startsWith('proxy.nginx'));
    expect(nginx.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
  });
});

describe('An identity provider that looks at a code before the secret', () => {
  it.each(['the right one', 'a wrong one'])(
    'proves no secret of the web app, %s: it is said to be untried, and no fault',
    async (which) => {
      await granting(honestClaims)(plane);
      const clientSecretFile = plane.write('oidc_client_secret', 'not-the-secret-of-the-web-app');
      const config = which === 'the right one' ? {} : openId({ clientSecretFile });
      const { findings, probes } = await plane.examine({ config });
      // The fake's own tokens are signed by nobody.
      expect(findings.map(({ probe }) => probe)).toEqual(['grants.client.1.admission']);
      const web = probes.find(({ id }) => id === 'grants.web');
      expect([web?.status, web?.why]).toEqual(['skip', expect.stringContaining('made-up secret')]);
    },
  );
});

describe('A cluster that is well', () => {
  it('has no finding', async () => {
    const manifests = [...honestManifests(plane), ...injectionManifests(), ...HONEST_VERSIONS];
    const { findings, probes } = await plane.examine({ manifests });
    expect(findings).toEqual([]);
    const cluster = probes.filter(({ id }) => id.startsWith('cluster.'));
    expect(cluster.length).toBeGreaterThan(10);
    const left = cluster.filter(({ status }) => status !== 'ok');
    expect(left.map(({ id, why }) => `${id}: ${why}`)).toEqual([
      expect.stringMatching(/^cluster\.injection\.trial: .*manifests\.json is no running cluster$/),
      expect.stringMatching(/^cluster\.versions\.kubernetes: .* is no running cluster$/),
    ]);
  });
});

describe('One fault', () => {
  it.each(FAULTS)('$fault: the first finding is $cause', async ({ cause, probe, make }) => {
    const { findings, text } = await plane.examine(await make(plane));
    const [first] = findings;
    expect(`${first?.code}: ${first?.what} ${first?.evidence.join(' ')}`).toMatch(
      new RegExp(`^${cause}: `),
    );
    if (probe !== undefined) expect(first?.probe).toBe(probe);
    for (const secret of [plane.webSecret, plane.serviceSecret]) expect(text).not.toContain(secret);
  });
});
