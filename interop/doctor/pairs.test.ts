import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FAULTS } from './faults.ts';
import { type Asked, type FaultyPlane, startFaultyPlane } from './faulty-plane.ts';

/** Pairs that meet: at one server, at one file, at both ends of one way. */
const PAIRS: readonly (readonly [one: string, two: string])[] = [
  ['the issuer has a final slash too many', 'a wrong client secret of the web app'],
  ['the issuer has a final slash too many', 'the ingress drops the header core-authorization'],
  ['the identity provider answers 503', 'the token endpoint is unreachable (AUTH_TOKEN_URL)'],
  ['the identity provider answers 503', '/login is not routed to the admin service'],
  ['the key set is empty', 'device codes are off for the native app'],
  ['the key set is empty', 'a protected route has no auth subrequest'],
  ['OIDC_BASE_URL is a port that nothing listens on', 'the file is empty'],
  ['OIDC_BASE_URL is a port that nothing listens on', 'the metadata is not routed'],
  ['something else answers /me with 200', 'the metadata is not routed'],
  ['/me sits behind the auth subrequest itself', 'the ingress drops Set-Cookie'],
  ['the ingress does not reach the admin service', 'quotes stand around the secret'],
  [
    'the AuthMetadataService routes sit behind the auth subrequest',
    'the ingress drops the header core-authorization',
  ],
  ['a protected route has no auth subrequest', 'the secret is base64 twice'],
  ['/login is not routed to the admin service', 'a wrong client secret of the web app'],
  ['the ingress drops Set-Cookie', 'tokens lack the audience of the platform'],
  [
    'a proxy makes cookies SameSite=Strict',
    'the Secret lacks the key client_secret, and has clientSecret',
  ],
  ['union.auth.enable is not true', 'the ingress drops the header core-authorization'],
  ['adminOauthClientCredentials.enabled is not true', 'the file holds a stand-in value'],
  [
    'the service app is not in the access policy of the authorization server (Okta)',
    'a wrong client secret of the web app',
  ],
  ['AUTH_TOKEN_URL has a wrong path', 'the identity provider offers no device codes'],
  [
    'the ingress takes 4k of headers from the admin service, as nginx by default',
    'a wrong client secret of the web app',
  ],
  [
    'the ingress keeps verdicts by the cookie, and not by the bearer header',
    'the ingress drops the header core-authorization',
  ],
  ['the platform is not started', 'the issuer has a final slash too many'],
  [
    'server.security.useAuth is false at the running service',
    'a wrong client secret of the web app',
  ],
];

let plane: FaultyPlane;

beforeAll(async () => {
  plane = await startFaultyPlane();
});

afterEach(() => plane.mend());

afterAll(async () => {
  await plane.close();
});

function faultOf(name: string) {
  const fault = FAULTS.find((each) => each.fault === name);
  if (fault === undefined) throw new Error(`no fault is named ${name}`);
  return fault;
}

type Members = Readonly<Record<string, unknown>>;

function mergeConfig(one: Members = {}, two: Members = {}): Members {
  const isBlock = (value: unknown): value is Members => typeof value === 'object' && value !== null;
  const merged: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(two)) {
    const before = merged[name];
    merged[name] = isBlock(before) && isBlock(value) ? mergeConfig(before, value) : value;
  }
  return merged;
}

function join(one: Asked, two: Asked): Asked {
  return {
    ...one,
    ...two,
    config: mergeConfig(one.config, two.config),
    clients: [...(one.clients ?? []), ...(two.clients ?? [])],
  };
}

describe('Two faults together', () => {
  it.each(PAIRS)(
    '%s; and %s: both are named, or the one that is not is said to be hidden',
    async (...names) => {
      const faults = names.map(faultOf);
      /** Which probe finds it when it is alone. */
      const alone: (string | undefined)[] = [];
      for (const { make } of faults) {
        alone.push((await plane.examine(await make(plane))).findings[0]?.probe);
        plane.mend();
      }
      let asked: Asked = {};
      for (const { make } of faults) asked = join(asked, await make(plane));
      const { findings, probes } = await plane.examine(asked);
      expect(faults.map(({ cause }) => cause)).toContain(findings[0]?.code);
      for (const [at, { cause }] of faults.entries()) {
        if (findings.some(({ code }) => code === cause)) continue;
        const probe = probes.find(({ id }) => id === alone[at]);
        const other = alone[1 - at] ?? '';
        expect([cause, probe?.status, probe?.why]).toEqual([cause, 'skip', `needs ${other}`]);
      }
    },
  );
});
