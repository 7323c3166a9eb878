import { readFileSync } from 'node:fs';
import {
  CLIENT_IDS,
  PUBLIC_URL,
  type RunningIdp,
  startIdp,
} from '@sallyport/testing/idp/running-idp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applicationsOf, createIdpSpec } from '../spec/idp-spec.ts';
import { type ApplicationsCheck, checkApplications } from './check-applications.ts';
import type { GrantEndpoints } from './try-grant.ts';

let running: RunningIdp;
let endpoints: GrantEndpoints;
let secrets: ReadonlyMap<string, string>;

beforeAll(async () => {
  running = await startIdp();
  const metadata = await fetch(`${running.issuer}/.well-known/openid-configuration`);
  endpoints = (await metadata.json()) as GrantEndpoints;
  const { webClientSecretFile, serviceClientSecretFile } = running.idp;
  secrets = new Map([
    [CLIENT_IDS.web, readFileSync(webClientSecretFile, 'utf8').trim()],
    [CLIENT_IDS.service, readFileSync(serviceClientSecretFile, 'utf8').trim()],
  ]);
});

afterAll(async () => {
  await running.close();
});

/** The check of the IdP as it is, against a specification that may say something else. */
async function check(changed: Partial<ApplicationsCheck> = {}) {
  const found = await checkApplications({
    applications: applicationsOf(createIdpSpec(PUBLIC_URL, CLIENT_IDS)),
    secrets,
    endpoints,
    audience: PUBLIC_URL,
    fetch,
    ...changed,
  });
  return {
    found,
    failed: found.flatMap(({ clientId, tried, result }) =>
      result === 'failed' ? [`${clientId}: ${tried}`] : [],
    ),
    text: JSON.stringify(found),
  };
}

describe('The applications of the embedded IdP', () => {
  it('have their grants by use, and no other', async () => {
    const { found, failed } = await check();
    expect(failed).toEqual([]);
    expect(found.filter(({ result }) => result === 'undecided')).toEqual([]);
    expect(found.map(({ clientId, tried }) => `${clientId}: ${tried}`)).toEqual(
      expect.arrayContaining([
        'web-app: grant authorization_code',
        'web-app: no grant client_credentials',
        'native-app: grant urn:ietf:params:oauth:grant-type:device_code',
        'native-app: PKCE required',
        'native-app: no other redirect URI',
        'service+app: grant client_credentials',
        'service+app: audience and scope of its token',
        'service+app: no grant password',
      ]),
    );
  });

  it('show a grant that one has too many, and one that it lacks', async () => {
    const applications = applicationsOf(createIdpSpec(PUBLIC_URL, CLIENT_IDS)).map(
      (application) => {
        if (application.role === 'native')
          return { ...application, grantTypes: ['authorization_code'] as const };
        if (application.role === 'web')
          return { ...application, grantTypes: ['client_credentials'] as const };
        return application;
      },
    );
    expect((await check({ applications })).failed).toEqual([
      'web-app: no grant authorization_code',
      'web-app: grant client_credentials',
      'native-app: no grant urn:ietf:params:oauth:grant-type:device_code',
    ]);
  });

  it('show the redirect URI that is not registered, where they are of another platform', async () => {
    const applications = applicationsOf(createIdpSpec('https://other.example.com', CLIENT_IDS));
    const { found } = await check({ applications });
    const finding = found.find(
      ({ clientId, tried }) => clientId === CLIENT_IDS.web && tried === 'grant authorization_code',
    );
    expect(finding).toMatchObject({
      result: 'failed',
      finding: expect.stringContaining('https://other.example.com/callback is not registered'),
    });
  });

  it('show a secret that is not theirs, and show it to no one', async () => {
    const wrong = new Map([...secrets, [CLIENT_IDS.service, 'not-the-secret-of-this-client']]);
    const { failed, text } = await check({ secrets: wrong });
    expect(failed).toEqual(['service+app: client secret']);
    for (const secret of [...secrets.values(), ...wrong.values()])
      expect(text).not.toContain(secret);
  });

  it('show a token that is for something else', async () => {
    expect((await check({ audience: 'https://other.example.com' })).failed).toEqual([
      'service+app: audience and scope of its token',
    ]);
  });

  it('show a token without sub, which the platform would refuse, and where Keycloak puts it in', async () => {
    const withoutSubject: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const body = (await response
        .clone()
        .json()
        .catch(() => ({}))) as Record<string, unknown>;
      if (typeof body['access_token'] !== 'string') return response;
      const [head, payload = '', signature] = body['access_token'].split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
      const changed = Buffer.from(JSON.stringify({ ...claims, sub: undefined }));
      return Response.json({
        access_token: [head, changed.toString('base64url'), signature].join('.'),
      });
    };
    const { failed, text } = await check({ fetch: withoutSubject });
    expect(failed).toEqual(['service+app: audience and scope of its token']);
    expect(text).toContain('sub is absent');
    expect(text).toContain('client scope basic');
  });

  it('are never said to be right while the IdP does not answer', async () => {
    const silent: typeof fetch = async () => {
      throw new TypeError('no answer');
    };
    const { found } = await check({ fetch: silent });
    expect(found.filter(({ result }) => result === 'passed')).toEqual([]);
  });
});
