/**
 * The chart's Ingress objects as helm renders them: the requirement's annotations, every route, and what is refused.
 *
 * @module
 */

import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROUTE_GROUPS } from '@sallyport/protocol';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import { chartFolder, HELM, helm, type KubernetesObject, render, tryRender } from './helm.ts';
import { ALL_BACKENDS, HOST, ORIGIN } from './ingress-site.ts';

const DEFAULT_PREFIX = 'nginx.ingress.kubernetes.io';

/** The requirement's table "Ingress annotations on protected routes"; the cache keys in the words of nginx. */
const REQUIREMENT = [
  ['http', 'auth-url', 'https://$host/me'],
  ['http', 'auth-signin', 'https://$host/login?redirect_url=$escaped_request_uri'],
  ['http', 'auth-response-headers', 'Set-Cookie'],
  ['http', 'auth-cache-key', '$http_core_authorization$http_cookie'],
  ['grpc', 'auth-url', 'https://$host/me'],
  ['grpc', 'auth-response-headers', 'Set-Cookie'],
  ['grpc', 'auth-cache-key', '$http_authorization$http_core_authorization$http_cookie'],
] as const;

/** The objects by transport; `api` has everything but `auth-signin`. */
const PROTECTED = {
  http: ['sallyport-pages', 'sallyport-api'],
  grpc: ['sallyport-rpc', 'sallyport-rpc-streams'],
} as const;
const OPEN = ['sallyport-open', 'sallyport-rpc-open', 'sallyport-rpc-open-streams'];

interface Rule {
  readonly host: string;
  readonly http: {
    readonly paths: readonly {
      readonly path: string;
      readonly pathType: string;
      readonly backend: {
        readonly service: { readonly name: string; readonly port: { readonly number: number } };
      };
    }[];
  };
}

type Values = Readonly<Record<string, unknown>>;

async function renderIngresses(
  ingress: Values = {},
  values: Values = {},
): Promise<ReadonlyMap<string, KubernetesObject>> {
  const objects = await render({
    chart: 'sallyport',
    values: { ...values, ingress: { enabled: true, backends: ALL_BACKENDS, ...ingress } },
  });
  const found = objects.filter(({ kind }) => kind === 'Ingress');
  return new Map(found.map((object) => [object.metadata.name, object]));
}

/** Annotations of one object by their suffix, under a prefix. */
function annotationsOf(
  objects: ReadonlyMap<string, KubernetesObject>,
  name: string,
  prefix = DEFAULT_PREFIX,
): Readonly<Record<string, string>> {
  const object = objects.get(name);
  if (object === undefined) throw new Error(`no Ingress ${name}`);
  return Object.fromEntries(
    Object.entries(object.metadata.annotations ?? {}).flatMap(([key, value]) =>
      key.startsWith(`${prefix}/`) ? [[key.slice(prefix.length + 1), value]] : [],
    ),
  );
}

function pathsOf(object: KubernetesObject | undefined): Rule['http']['paths'] {
  const { rules } = (object?.['spec'] ?? { rules: [] }) as { readonly rules: readonly Rule[] };
  return rules.flatMap(({ http }) => http.paths);
}

/** Where the annotation stands: `auth-signin` on pages alone. */
function objectsWith(transport: 'http' | 'grpc', suffix: string): readonly string[] {
  return suffix === 'auth-signin' ? ['sallyport-pages'] : PROTECTED[transport];
}

/** What helm would print after an installation, which needs a cluster: the same template, put into an object. */
async function renderNotes(ingress: Values): Promise<string> {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  cpSync(chartFolder('sallyport'), path, { recursive: true });
  const include = '{{ include (print .Template.BasePath "/NOTES.txt") . | toJson }}';
  writeFileSync(
    join(path, 'templates', 'notes.yaml'),
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\ndata: {notes: ${include}}\n`,
  );
  const { stdout, stderr } = await helm([
    ...['template', 'sallyport', path, '--show-only', 'templates/notes.yaml'],
    ...['--set', `publicUrl=${ORIGIN}`, '--set', 'image.repository=registry.example.com/sallyport'],
    ...['OIDC_BASE_URL', 'AUTH_TOKEN_URL'].flatMap((name) => [
      '--set',
      `global.${name}=https://idp.example.com/x`,
    ]),
    ...['OIDC_CLIENT_ID', 'CLI_CLIENT_ID', 'INTERNAL_CLIENT_ID'].flatMap((name) => [
      '--set',
      `global.${name}=app`,
    ]),
    ...['--set-json', `ingress=${JSON.stringify(ingress)}`],
  ]);
  expect(stderr).toBe('');
  const { data } = parse(stdout) as { readonly data: { readonly notes: string } };
  return data.notes;
}

describe.skipIf(HELM.isLeftOut)('Requirement, "Ingress annotations on protected routes"', () => {
  let literal: ReadonlyMap<string, KubernetesObject>;
  let safe: ReadonlyMap<string, KubernetesObject>;
  beforeAll(async () => {
    await programPath('helm');
    literal = await renderIngresses({ profile: 'requirement' });
    safe = await renderIngresses();
  }, BUILD_TIMEOUT_MS);

  it.each(REQUIREMENT)(
    '%s %s is to the letter with the profile "requirement"',
    (transport, suffix, value) => {
      for (const name of objectsWith(transport, suffix))
        expect(annotationsOf(literal, name)[suffix]).toBe(value);
    },
  );

  it.each(REQUIREMENT)('%s %s is kept by the profile "safe"', (transport, suffix, value) => {
    for (const name of objectsWith(transport, suffix)) {
      const kept = annotationsOf(safe, name)[suffix] ?? '';
      if (suffix === 'auth-response-headers') expect(kept.split(',')).toContain(value);
      else if (suffix === 'auth-cache-key') expect(kept.endsWith(value)).toBe(true);
      else expect(kept).toBe(value);
    }
  });

  it('the profile "requirement" has no other annotation about the check', () => {
    for (const transport of ['http', 'grpc'] as const)
      for (const name of PROTECTED[transport]) {
        const wanted = REQUIREMENT.filter(
          ([of, suffix]) => of === transport && objectsWith(of, suffix).includes(name),
        );
        const about = Object.keys(annotationsOf(literal, name)).filter((suffix) =>
          suffix.startsWith('auth-'),
        );
        expect(about.toSorted()).toEqual(wanted.map(([, suffix]) => suffix).toSorted());
      }
  });

  it('no object of open routes has an annotation about the check, whatever the profile', () => {
    for (const objects of [literal, safe])
      for (const name of OPEN)
        expect(
          Object.keys(annotationsOf(objects, name)).filter((suffix) => suffix.startsWith('auth-')),
        ).toEqual([]);
  });

  it('an API has every annotation of the HTTP routes but auth-signin, in both profiles', () => {
    for (const objects of [literal, safe]) {
      const {
        'auth-signin': signIn,
        'auth-signin-redirect-param': _,
        ...pages
      } = annotationsOf(objects, 'sallyport-pages');
      expect(signIn).toBeDefined();
      expect(annotationsOf(objects, 'sallyport-api')).toEqual(pages);
    }
  });

  it('keys are the configured prefix followed by the suffix', async () => {
    const prefix = 'ingress.corp.example';
    const moved = await renderIngresses({ annotationPrefix: prefix });
    for (const name of [...PROTECTED.http, ...PROTECTED.grpc, ...OPEN]) {
      expect(annotationsOf(moved, name, prefix)).toEqual(annotationsOf(safe, name));
      expect(annotationsOf(moved, name)).toEqual({});
    }
  });

  it.each(['', 'a/b', 'prefix with spaces', 'x\nkey: value', '-x.example'])(
    'a prefix that no annotation can have is refused: %j',
    async (annotationPrefix) => {
      const { code, stderr } = await tryRender({
        chart: 'sallyport',
        values: { ingress: { enabled: true, annotationPrefix } },
      });
      expect(code).toBe(1);
      expect(stderr).toMatch(/ingress[./]annotationPrefix/);
    },
  );
});

describe.skipIf(HELM.isLeftOut)('The chart’s Ingress objects', () => {
  let objects: ReadonlyMap<string, KubernetesObject>;
  beforeAll(async () => {
    await programPath('helm');
    objects = await renderIngresses();
  }, BUILD_TIMEOUT_MS);

  it('hold every route of the one table once, checked if it is protected, in the transport of its group', () => {
    const placed = [...objects].flatMap(([name, object]) => {
      const annotations = annotationsOf(objects, name);
      return pathsOf(object).map(({ path, backend }) => ({
        path,
        isChecked: annotations['auth-url'] !== undefined,
        transport: annotations['backend-protocol'] === 'GRPC' ? 'grpc' : 'http',
        isStream: annotations['proxy-read-timeout'] === '3600',
        service: backend.service.name,
      }));
    });
    const wanted = ROUTE_GROUPS.flatMap((group) =>
      group.matches.map((match) => ({
        path: group.transport === 'http' ? match : `/${match.replace(/\*$/, '')}`,
        isChecked: group.protected,
        transport: group.transport,
        isStream: group.streaming,
        service:
          group.backend === 'admin' && !group.protected ? 'sallyport' : `${group.backend}-service`,
      })),
    );
    const sorted = (all: readonly { readonly path: string }[]) =>
      all.toSorted((one, other) => (one.path < other.path ? -1 : 1));
    expect(sorted(placed)).toEqual(sorted(wanted));
  });

  it('are all for the host of publicUrl', () => {
    for (const object of objects.values()) {
      const { rules } = object['spec'] as { readonly rules: readonly Rule[] };
      expect(rules.map(({ host }) => host)).toEqual([HOST]);
    }
  });

  it('leave out the routes of backends that are not run; the admin service’s are there', async () => {
    const few = await renderIngresses({ backends: { console: { service: 'console', port: 80 } } });
    const services = [...few.values()].flatMap((object) =>
      pathsOf(object).map(({ backend }) => backend.service.name),
    );
    expect(new Set(services)).toEqual(new Set(['sallyport', 'console']));
    const api = pathsOf(few.get('sallyport-api')).map(({ path }) => path);
    expect(api).toEqual(['/api', '/v1', '/cloudadmin']);
    expect(pathsOf(few.get('sallyport-open')).map(({ path }) => path)).not.toContain('/openapi');
  });

  it('lead to port 80 of a backend without a port; one with a gRPC port alone has no HTTP routes', async () => {
    const portsOf = async (console: Values) => {
      const rendered = await renderIngresses({ backends: { console } });
      return pathsOf(rendered.get('sallyport-pages'))
        .filter(({ backend }) => backend.service.name === 'console')
        .map(({ backend }) => backend.service.port.number);
    };
    const ports = await portsOf({ service: 'console' });
    expect(ports).not.toEqual([]);
    expect(new Set(ports)).toEqual(new Set([80]));
    expect(await portsOf({ service: 'console', grpcPort: 81 })).toEqual([]);
  });

  it('name a claim’s header where the service sends it', async () => {
    const values = { config: { claimHeaders: ['department', 'cost_center'] } };
    const claimed = await renderIngresses({}, values);
    const names = annotationsOf(claimed, 'sallyport-rpc')['auth-response-headers']?.split(',');
    expect(names).toEqual(
      expect.arrayContaining([
        'X-User-Subject',
        'X-User-Claim-Groups',
        'X-User-Claim-Department',
        'X-User-Claim-Cost-Center',
      ]),
    );
    const before = annotationsOf(objects, 'sallyport-rpc')['auth-response-headers'];
    expect(before).not.toContain('Department');
  });

  it('are not there unless they are asked for', async () => {
    const rendered = await render({ chart: 'sallyport' });
    expect(rendered.filter(({ kind }) => kind === 'Ingress')).toEqual([]);
  });

  it.each([
    [
      'an address without TLS',
      { publicUrl: 'http://platform.example.com' },
      'publicUrl with https',
    ],
    ['a port', { publicUrl: 'https://platform.example.com:8443' }, 'publicUrl without a port'],
    ...[
      'auth-url',
      'auth-tls-secret',
      'satisfy',
      'use-regex',
      'rewrite-target',
      'server-snippet',
      'ssl-passthrough',
      'service-upstream',
      'canary-by-header',
      'mirror-target',
      'upstream-vhost',
      'x-forwarded-prefix',
      'custom-headers',
      'enable-cors',
      'cors-allow-origin',
      'from-to-www-redirect',
      'connection-proxy-header',
      'proxy-buffer-size',
    ].map(
      (suffix) =>
        [
          `the annotation ${suffix}`,
          { ingress: { annotations: { [`${DEFAULT_PREFIX}/${suffix}`]: 'x' } } },
          `must not have ${DEFAULT_PREFIX}/${suffix}`,
        ] as const,
    ),
    [
      'a backend that no route has',
      { ingress: { backends: { consol: { service: 'console', port: 80 } } } },
      'ingress.backends.consol is no backend',
    ],
    [
      'a claim whose header nginx cannot hold',
      { config: { claimHeaders: ['c'.repeat(34)] } },
      'nginx holds names of 46 characters',
    ],
    [
      'a further header that nginx cannot hold',
      { ingress: { removedHeaders: ['x'.repeat(47)] } },
      '/ingress/removedHeaders/0',
    ],
    [
      'one port for HTTP and gRPC',
      { ingress: { backends: { usage: { service: 'usage', port: 80, grpcPort: 80 } } } },
      'ingress.backends.usage has one port',
    ],
    ['a profile of another name', { ingress: { profile: 'literal' } }, 'profile'],
  ] as const)('refuse %s, with the reason', async (_, values, reason) => {
    const { ingress = {}, ...rest } = values as { readonly ingress?: Values };
    const { code, stderr } = await tryRender({
      chart: 'sallyport',
      values: { ...rest, ingress: { enabled: true, ...ingress } },
    });
    expect(code).toBe(1);
    expect(stderr).toContain(reason);
  });

  it('take an annotation that is not about the check, and keep their own of that name', async () => {
    const given = {
      [`${DEFAULT_PREFIX}/limit-rps`]: '100',
      [`${DEFAULT_PREFIX}/proxy-body-size`]: '8m',
      'cert-manager.io/cluster-issuer': 'corp',
    };
    const before = objects.get('sallyport-api')?.metadata.annotations;
    const limited = await renderIngresses({ annotations: given });
    expect(limited.get('sallyport-api')?.metadata.annotations).toEqual({ ...before, ...given });
    const streams = objects.get('sallyport-rpc-streams')?.metadata.annotations;
    expect(limited.get('sallyport-rpc-streams')?.metadata.annotations).toEqual({
      ...given,
      ...streams,
    });
  });

  it('refuse an annotation about the check under the default prefix, too, where another is configured', async () => {
    const { code, stderr } = await tryRender({
      chart: 'sallyport',
      values: {
        ingress: {
          enabled: true,
          annotationPrefix: 'ingress.corp.example',
          annotations: { [`${DEFAULT_PREFIX}/auth-url`]: 'x' },
        },
      },
    });
    expect([code, stderr.includes(`must not have ${DEFAULT_PREFIX}/auth-url`)]).toEqual([1, true]);
  });

  it.each([
    [
      'requirement',
      false,
      [
        'such as X-User-Subject, reach every backend',
        'leaves out the header Authorization',
        'without ingress.snippets, identity headers of clients',
      ],
    ],
    ['safe', false, ['without ingress.snippets, identity headers of clients']],
    ['safe', true, []],
  ] as const)(
    'NOTES of the profile %s, snippets %j, warn of what it lets through',
    async (profile, snippets, warnings) => {
      const notes = await renderNotes({ enabled: true, profile, snippets });
      expect(notes).toContain(`Ingress for https://${HOST}, profile ${profile}`);
      expect(notes).toContain('gets 302 to /login in place of 401');
      expect(notes).toContain('as the request header Set-Cookie');
      expect(notes.includes('annotations-risk-level: Critical')).toBe(snippets);
      for (const warning of warnings) expect(notes).toContain(warning);
      expect(notes.match(/^- WARNING: /gm) ?? []).toHaveLength(warnings.length);
    },
  );
});
