import { readdirSync, readFileSync } from 'node:fs';
import {
  IDENTITY_HEADERS,
  listRemovedHeaders,
  ROUTE_GROUPS,
  type RouteGroup,
} from '@sallyport/protocol';
import {
  DEFAULT_RECIPE,
  type NginxRecipeOptions,
  renderNginxRecipe,
} from '@sallyport/recipes/nginx';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchange } from '../../conformance/wire/exchange.ts';
import { type Gate, startGate } from './gate.ts';
import { NGINX } from './nginx.ts';
import { RECIPE_FOLDER } from './recipe-folder.ts';

const committed = (name: string) => readFileSync(new URL(name, RECIPE_FOLDER), 'utf8');

const CONSOLE: RouteGroup = {
  name: 'console',
  transport: 'http',
  protected: true,
  backend: 'console',
  matches: ['/'],
  forwardCredential: 'none',
  streaming: false,
};
const render = (options: Partial<NginxRecipeOptions>) =>
  renderNginxRecipe({ ...DEFAULT_RECIPE, ...options });
const group = (changes: Partial<RouteGroup>): RouteGroup => ({
  ...CONSOLE,
  name: 'other',
  matches: ['/other'],
  ...changes,
});

describe('deploy/nginx/sallyport', () => {
  const rendered = render({});

  it('is what the route groups say', () => {
    expect(new Map([...rendered.keys()].map((name) => [name, committed(name)]))).toEqual(rendered);
    expect(readdirSync(RECIPE_FOLDER).toSorted()).toEqual([...rendered.keys()].toSorted());
  });

  it('has two locations for every HTTP path, which serve no gRPC call', () => {
    const http = ROUTE_GROUPS.filter(({ transport }) => transport === 'http');
    const routes = committed('routes.conf');
    for (const { matches, backend } of http) {
      for (const path of matches) {
        const lines = routes
          .split('\n')
          .filter((line) => new RegExp(`^location (?:= ${path}|\\^~ ${path}/?) +\\{`).test(line));
        expect(lines).toHaveLength(path === '/' ? 1 : 2);
        for (const line of lines) {
          expect(line).toContain(`proxy_pass http://sallyport_${backend};`);
          expect(line).toContain('include sallyport/http-only.conf;');
          expect(line).not.toContain('grpc_pass');
        }
      }
    }
  });

  it('has a location for every service, method and prefix, which serves all three protocols', () => {
    const routes = committed('routes.conf').split('\n');
    const rpc = ROUTE_GROUPS.filter(({ transport }) => transport === 'grpc');
    for (const { matches, backend, protected: isProtected, forwardCredential, streaming } of rpc) {
      for (const match of matches) {
        const prefix = match.endsWith('*') ? match.slice(0, -1) : `${match}/`;
        const isMethod = match.includes('/') && !match.endsWith('*');
        const start = isMethod ? `location = /${match} ` : `location ^~ /${prefix} `;
        const lines = routes.filter((line) => line.startsWith(start));
        expect(lines).toHaveLength(1);
        const file = `${isProtected ? 'protected' : 'open'}-${forwardCredential}.conf`;
        for (const part of [
          `{ include sallyport/${file}; include sallyport/grpc-${file}; `,
          `proxy_pass http://sallyport_${backend};`,
          `if ($sallyport_protocol = grpc) { grpc_pass grpc://sallyport_${backend}_grpc; }`,
        ])
          expect(lines[0]).toContain(part);
        expect(lines[0]?.includes('include sallyport/streaming.conf;')).toBe(streaming);
      }
    }
  });

  it('has no location beside those of the route groups', () => {
    const http = ROUTE_GROUPS.filter(({ transport }) => transport === 'http');
    const rpc = ROUTE_GROUPS.filter(({ transport }) => transport === 'grpc');
    const rpcMatches = rpc.flatMap(({ matches }) => matches);
    const services = rpcMatches.filter((match) => !match.includes('/'));
    expect(committed('routes.conf').match(/^location [=^]/gm)).toHaveLength(
      http.flatMap(({ matches }) => matches).length * 2 - 1 + rpcMatches.length + services.length,
    );
  });

  it('has an upstream in the example site for every backend', () => {
    const site = readFileSync(new URL('../site.conf', RECIPE_FOLDER), 'utf8');
    const used = [...committed('routes.conf').matchAll(/(?:http|grpc):\/\/(sallyport_\w+)/g)];
    const named = [...site.matchAll(/^upstream (sallyport_\w+)/gm)];
    expect(new Set(named.map(([, name]) => name))).toEqual(new Set(used.map(([, name]) => name)));
  });

  it.each(Object.values(IDENTITY_HEADERS))(
    'sets %s where there is a verdict, and blanks it elsewhere',
    (name) => {
      for (const [file, content] of rendered) {
        const lines = content
          .split('\n')
          .filter((line) => new RegExp(`^(?:proxy|grpc)_set_header ${name} `).test(line));
        const [, module = 'proxy', kind] = /^(?:(grpc)-)?(protected|open)-/.exec(file) ?? [];
        if (kind === 'protected')
          expect(lines).toEqual([
            expect.stringMatching(`^${module}_set_header \\S+ \\$sallyport_user_`),
          ]);
        if (kind === 'open') expect(lines).toEqual([`${module}_set_header ${name} "";`]);
      }
    },
  );

  it('removes every name of the one list, towards gRPC those that fit into its table', () => {
    const { plain, carried, carriedCredentials } = listRemovedHeaders();
    const named = (file: string) => [
      ...(rendered.get(file) ?? '').matchAll(/^(?:proxy|grpc)_set_header (\S+) (?:"";|\$)/gm),
    ];
    for (const file of rendered.keys()) {
      const kind = /^(grpc-)?(?:protected|open)-/.exec(file);
      if (kind === null) continue;
      const names = named(file).map(([, name]) => name);
      const listed =
        kind[1] === undefined ? [...plain, ...carried] : [...plain, ...carriedCredentials];
      expect(names).toEqual(expect.arrayContaining(listed));
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it('asks the verdict on every protected path and on no other', () => {
    for (const [file, content] of rendered)
      expect(content.includes('\nauth_request /_sallyport/check;\n')).toBe(
        file.startsWith('protected'),
      );
  });
});

const HARMFUL = [
  'a\nb',
  'a\rb',
  'a b',
  'a\tb',
  'a}b',
  'a{b',
  'a;b',
  'a"b',
  "a'b",
  'a#b',
  'a$b',
  'a\\b',
  'a*b',
  'é',
  '\0',
];

/** What is harmless and what is not, mixed. */
const CHARACTER = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...'aZ0_.~-/:'.split('')) },
  { weight: 1, arbitrary: fc.constantFrom(...'\n\r\t {};"\'#$\\*%?&<>|\0'.split('')) },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 1, unit: 'binary' }) },
);

describe('the generator of the nginx recipe', () => {
  it.each(HARMFUL)('writes %j into nginx from no option', (text) => {
    const slash = `/${text}`;
    for (const options of [
      { routes: [CONSOLE, group({ matches: [slash] })] },
      { routes: [CONSOLE, group({ matches: [`/x${slash}`] })] },
      { routes: [CONSOLE, group({ transport: 'grpc', matches: [text] })] },
      { routes: [CONSOLE, group({ transport: 'grpc', matches: [`pkg.Service/${text}`] })] },
      { routes: [CONSOLE, group({ backend: text })] },
      { routes: [CONSOLE, group({ name: text })] },
      { claims: [text] },
      { bearerHeaders: [text] },
      { stripHeaders: [text] },
      { verdictFolder: `/run/${text}` },
      { upstream: `unix:/run/${text}` },
      { upstream: `${text}:8080` },
    ])
      expect(() => render(options)).toThrow(TypeError);
  });

  it.each([
    '',
    'api',
    '/api/',
    '//api',
    '/api//v1',
    '/api/..',
    '/./api',
    '/..',
    '/a/.../b',
    '/a%2fb',
  ])('takes %j for no path', (path) => {
    expect(() => render({ routes: [CONSOLE, group({ matches: [path] })] })).toThrow(TypeError);
  });

  it.each(['', '/', '..', '/run/../etc', '/run/', 'a//b', '.'])(
    'keeps verdicts in no %j',
    (folder) => {
      expect(() => render({ verdictFolder: folder })).toThrow(TypeError);
    },
  );

  it('keeps no verdict of a request with a bearer, in any of the headers, and keeps verdicts only where a folder is given', () => {
    const { conf, check } = {
      conf: render({ verdictFolder: '/run/x', bearerHeaders: ['x-own'] }).get('verdict-cache.conf'),
      check: render({ verdictFolder: '/run/x' }).get('check.conf'),
    };
    for (const name of ['core_authorization', 'x_own', 'authorization', 'upgrade'])
      expect(conf).toMatch(new RegExp(`^map "\\$request_method:\\S*\\$http_${name}\\b`, 'm'));
    expect(check).toContain('proxy_cache sallyport_verdicts;');
    expect(render({}).has('verdict-cache.conf')).toBe(false);
    for (const content of render({}).values()) expect(content).not.toMatch(/proxy_cache (?!off;)/);
  });

  it('writes no character of any option that nginx gives a meaning', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 6, unit: CHARACTER }), (text) => {
        for (const options of [
          { claims: [], routes: [CONSOLE, group({ matches: [`/${text}`] })] },
          { claims: [text], routes: [CONSOLE] },
          { claims: [], routes: [CONSOLE], stripHeaders: [text] },
        ]) {
          try {
            render(options);
          } catch (cause) {
            expect(cause).toBeInstanceOf(TypeError);
            continue;
          }
          expect(text).toMatch(/^[\w./:~-]+$/);
        }
      }),
    );
  });

  it('refuses a table that leaves paths without a group, or all of them open', () => {
    expect(() => render({ routes: [group({})] })).toThrow('no protected group matches /');
    expect(() => render({ routes: [{ ...CONSOLE, protected: false }] })).toThrow(TypeError);
  });

  it.each([
    '',
    '/',
    'pkg.',
    '.pkg',
    'pkg..Service',
    'pkg.Service/a/b',
    'pkg.Service/*a',
    'a b',
    '../a',
  ])('takes %j for no service', (match) => {
    expect(() =>
      render({ routes: [CONSOLE, group({ transport: 'grpc', matches: [match] })] }),
    ).toThrow(TypeError);
  });

  it('refuses a service that two groups claim, and an open one with a protected method', () => {
    const rpc = (changes: Partial<RouteGroup>) => group({ transport: 'grpc', ...changes });
    const routes = (...groups: readonly RouteGroup[]) => [CONSOLE, ...groups];
    const twice = rpc({ matches: ['pkg.Service', 'pkg.Service'] });
    expect(() => render({ routes: routes(twice) })).toThrow('twice');
    const open = rpc({ matches: ['pkg.Service'], protected: false });
    const below = rpc({ matches: ['pkg.Service/Method'] });
    expect(() => render({ routes: routes(open, below) })).toThrow('lies below');
    expect(() => render({ routes: routes(open) })).not.toThrow();
    const prefix = rpc({ matches: ['pkg.Service/Get*'], protected: false });
    expect(() => render({ routes: routes(prefix) })).toThrow('opens more');
  });

  it('refuses a path that two groups claim', () => {
    expect(() => render({ routes: [CONSOLE, group({ matches: ['/'] })] })).toThrow('twice');
    expect(() => render({ routes: [CONSOLE, group({ matches: ['/a', '/a'] })] })).toThrow('twice');
  });

  it.each([
    ['/open', '/open/secret'],
    ['/open', '/OPEN/secret'],
    ['/Open/x', '/open/X'],
  ])('refuses the open path %s with the protected path %s below', (open, below) => {
    const routes = [
      CONSOLE,
      group({ matches: [open], protected: false }),
      group({ matches: [below] }),
    ];
    expect(() => render({ routes })).toThrow('lies below');
    expect(() => render({ routes: routes.slice(0, 2) })).not.toThrow();
  });
});

describe.skipIf(NGINX.isLeftOut)(
  'nginx: a recipe of other route groups, claims and headers',
  () => {
    const SENT = {
      cookie: 'a=1; core_session=S; core_login_0=L; b=2',
      'core-authorization': 'Bearer one',
      'x-own-authorization': 'Bearer two',
      authorization: 'Bearer three',
      'x-internal': 'client',
      'x-user-claim-own-claim': 'client',
      'x-user-claim-groups': 'client',
      'x-user-claim-department': 'client',
    };
    let gate: Gate;
    beforeAll(async () => {
      const admin = group({
        name: 'admin',
        backend: 'admin',
        matches: ['/admin'],
        forwardCredential: 'all',
      });
      const files = render({
        routes: [
          CONSOLE,
          admin,
          group({
            name: 'tokens',
            backend: 'tokens',
            matches: ['/tokens'],
            forwardCredential: 'bearer',
          }),
          group({
            name: 'people',
            backend: 'people',
            matches: ['/people'],
            forwardCredential: 'session',
          }),
        ],
        claims: ['own_claim'],
        bearerHeaders: ['x-own-authorization'],
        stripHeaders: ['x-internal'],
      });
      gate = await startGate(
        (_, res) => res.writeHead(200, { 'x-user-claim-own-claim': 'mine' }).end(),
        { files },
      );
    });
    afterAll(() => gate.stop());

    it.each([
      ['none', 'console', '/', { cookie: 'a=1; b=2' }],
      ['session', 'people', '/people', { cookie: 'a=1; core_session=S; b=2' }],
      [
        'bearer',
        'tokens',
        '/tokens',
        {
          cookie: 'a=1; b=2',
          'core-authorization': 'Bearer one',
          'x-own-authorization': 'Bearer two',
          authorization: 'Bearer three',
        },
      ],
    ])('forwards of the credentials what the group says: %s', async (_, backend, path, kept) => {
      expect((await exchange(gate.url + path, { headers: SENT })).status).toBe(200);
      const { headers } = gate.last(backend);
      const names = [
        'cookie',
        'core-authorization',
        'x-own-authorization',
        'authorization',
      ] as const;
      expect(
        Object.fromEntries(
          names.flatMap((name) => (name in headers ? [[name, headers[name]]] : [])),
        ),
      ).toEqual(kept);
    });

    it('sends the configured claim, and no header that is to be stripped', async () => {
      await exchange(`${gate.url}/`, { headers: SENT });
      const { headers } = gate.last('console');
      expect(headers['x-user-claim-own-claim']).toBe('mine');
      expect(headers).not.toHaveProperty('x-internal');
      // As the README warns: a claim that the recipe does not name passes.
      expect(headers['x-user-claim-department']).toBe('client');
      expect(headers).not.toHaveProperty('x-user-claim-groups');
    });
  },
);
