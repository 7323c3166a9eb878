import { createGateway, type Gateway } from '@sallyport/gateway';
import { isRemovedHeader, listRemovedHeaders } from '@sallyport/protocol';
import { DEFAULT_RECIPE, renderNginxRecipe } from '@sallyport/recipes/nginx';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gate, sendRaw, startGate } from './gate.ts';
import { NGINX } from './nginx.ts';

const OWN = ['x-own-authorization', 'x-internal'];
const LISTED = listRemovedHeaders(OWN);
/** Every name that goes, an installation's own included; `authorization` because no backend here is given any. */
const REMOVED = [...LISTED.plain, ...LISTED.carried, ...OWN, 'authorization', 'core-authorization'];
const HARMLESS = [
  'accept-language',
  'grpc-metadata-tenant',
  'grpc-timeout',
  'grpcgateway-user-agent',
  'traceparent',
  'x-auth-request',
  'x-grpc-metadata-authorization',
  'x-own',
  'x-schemes',
  'x-userinfo',
];
type Path = readonly [path: string, backend: string];
const ORG: Path = ['/org', 'organizations'];
const PATHS: readonly Path[] = [ORG, ['/openapi', 'redoc']];

/** A name as some client writes it; `_` and other marks are `-` to some backends. */
const spelt = (name: string, marks: readonly string[]) =>
  fc
    .tuple(
      ...Array.from(name, (char) =>
        char === '-' ? fc.constantFrom(...marks) : fc.constantFrom(char, char.toUpperCase()),
      ),
    )
    .map((characters) => characters.join(''));

describe.skipIf(NGINX.isLeftOut)('nginx and the gateway, in front of the same backends', () => {
  let gate: Gate;
  let gateway: Gateway;
  let gatewayUrl: string;
  beforeAll(async () => {
    gate = await startGate((_, res) => res.writeHead(200).end(), {
      files: renderNginxRecipe({
        ...DEFAULT_RECIPE,
        bearerHeaders: ['x-own-authorization'],
        stripHeaders: ['x-internal'],
      }),
    });
    gateway = createGateway({
      publicOrigin: gate.url,
      upstreamFor: ({ backend }) => gate.backend(backend).url,
      answer: () => ({ outcome: 'admitted', identityHeaders: [], setCookie: undefined, body: '' }),
      backendHeaders: {
        bearerHeaders: new Set(['authorization', 'core-authorization', 'x-own-authorization']),
        stripHeaders: new Set(['x-internal']),
        isSessionCookie: () => true,
        isAttemptCookie: () => true,
      },
      log: () => {},
    });
    const { port } = await gateway.listen(0, '127.0.0.1');
    gatewayUrl = `http://localhost:${port}`;
  });
  afterAll(async () => {
    await gateway.close();
    await gate.stop();
  });

  /** The names that reached the backend, of those that were sent. */
  async function arrived(url: string, [path, backend]: Path, names: readonly string[]) {
    const lines = names.map((name, index) => `${name}: spoof-${index}\r\n`).join('');
    const answer = await sendRaw(
      url,
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${lines}Connection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    const { rawHeaders } = gate.last(backend);
    return names.filter((_, index) => rawHeaders.includes(`spoof-${index}`));
  }
  const both = async (path: Path, names: readonly string[]) => ({
    nginx: await arrived(gate.url, path, names),
    gateway: await arrived(gatewayUrl, path, names),
  });

  it.each(PATHS)('remove every name of the one list, on %s', async (...path) => {
    for (let start = 0; start < REMOVED.length; start += 60) {
      const names = REMOVED.slice(start, start + 60);
      expect(await both(path, [...names, 'x-own'])).toEqual({
        nginx: ['x-own'],
        gateway: ['x-own'],
      });
    }
  });

  it('let the same names pass and no other, however a listed one is spelt', async () => {
    const dashed = fc.constantFrom(...REMOVED, ...HARMLESS).chain((name) => spelt(name, ['-']));
    const marked = fc.constantFrom(...REMOVED).chain((name) => spelt(name, ['-', '_', '.', '~']));
    // Once each: of two with one name a proxy may make one.
    const names = fc.uniqueArray(fc.oneof(dashed, marked), {
      minLength: 20,
      maxLength: 40,
      selector: (name) => name.toLowerCase(),
    });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...PATHS), names, async (path, drawn) => {
        const passed = drawn.filter((name) => HARMLESS.includes(name.toLowerCase()));
        expect(await both(path, drawn)).toEqual({ nginx: passed, gateway: passed });
      }),
      { numRuns: 60 },
    );
  });

  it('differ, as the README says, in members of a prefix that are not listed, and in stacked prefixes', async () => {
    const names = ['x-user-unlisted', 'x-forwarded-unlisted', 'grpcgateway-grpc-metadata-cookie'];
    expect(names.filter(isRemovedHeader)).toEqual(names);
    expect(await both(ORG, names)).toEqual({ nginx: names, gateway: [] });
  });
});
