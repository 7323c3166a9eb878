/**
 * The doctor at a platform behind a real nginx: with the recipe, and with one setting taken out of it.
 */

import { readFileSync } from 'node:fs';
import { request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { DEFAULT_RECIPE, renderNginxRecipe } from '@sallyport/recipes/nginx';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type FaultyPlane, type Handler, startFaultyPlane } from '../doctor/faulty-plane.ts';
import { type Answer, echo } from './backend.ts';
import { type Gate, type GateOptions, startGate } from './gate.ts';
import { dumpConfiguration, NGINX } from './nginx.ts';
import { RECIPE_FOLDER } from './recipe-folder.ts';

describe.skipIf(NGINX.isLeftOut)('The doctor at a platform behind nginx', () => {
  let plane: FaultyPlane;
  let gate: Gate | undefined;
  beforeAll(async () => {
    plane = await startFaultyPlane();
  });
  afterEach(async () => {
    plane.mend();
    await gate?.stop();
  });
  afterAll(() => plane.close());

  /** Puts nginx with the recipe between the address of the plane and its admin service. */
  async function putNginx(options: GateOptions = {}): Promise<Gate> {
    const { host } = new URL(plane.url);
    const server = `set $sallyport_public_host ${host};`;
    gate = await startGate(passSeenTo(plane.service), { ...options, server });
    plane.front.set('*', passTo(gate.url));
    return gate;
  }

  const configurationOf = ({ folder }: Gate): string => join(folder, 'nginx.conf');

  it('with the recipe finds nothing wrong, over the wire and in the files', async () => {
    const nginx = configurationOf(await putNginx());
    const { findings, probes } = await plane.examine({ nginx });
    expect(findings).toEqual([]);
    const proxy = probes.filter(({ id }) => id.startsWith('proxy.'));
    expect(proxy.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'proxy.buffers ok',
      'proxy.verdicts ok',
      'proxy.nginx ok',
      'proxy.nginx.buffers ok',
      'proxy.nginx.verdicts ok',
    ]);
  });

  it('with the recipe that keeps verdicts finds nothing wrong, in what nginx -T writes', async () => {
    const files = renderNginxRecipe({ ...DEFAULT_RECIPE, verdictFolder: 'verdicts' });
    const { folder } = await putNginx({ files });
    const nginx = plane.write('dump.txt', dumpConfiguration(folder));
    expect((await plane.examine({ nginx })).findings).toEqual([]);
  });

  it('whose buffers are those that nginx has by default: names them, over the wire and in the files', async () => {
    const text = readFileSync(new URL('open-all.conf', RECIPE_FOLDER), 'utf8');
    const small = text.replace(/^proxy_(?:buffer_size|buffers) .*$/gm, '');
    expect(small).not.toBe(text);
    const running = await putNginx({ files: new Map([['open-all.conf', small]]) });
    const { findings } = await plane.examine({ nginx: configurationOf(running) });
    expect(findings.map(({ code, probe }) => `${code} ${probe}`)).toEqual([
      'proxy_buffers_small proxy.buffers',
      'proxy_buffers_small proxy.nginx.buffers',
    ]);
    expect(running.nginx.log()).toContain('upstream sent too big header');
  });

  it.each([
    [
      'the bearer header',
      '$http_cookie',
      ['verdict_shared proxy.verdicts'],
      '$http_core_authorization',
    ],
    ['the cookie', '$http_core_authorization', [], '$http_cookie'],
  ])('that keeps verdicts by a key without %s: names it', async (_, key, overTheWire, lacking) => {
    const check = readFileSync(new URL('check.conf', RECIPE_FOLDER), 'utf8');
    // /me forbids to keep its answers, and this one does so all the same.
    const keeping = `proxy_cache kept; proxy_cache_key ${key}; proxy_cache_valid 200 1m; proxy_buffering on;
      proxy_ignore_headers Cache-Control X-Accel-Expires Set-Cookie;`;
    const files = new Map([['check.conf', check.replace('proxy_cache off;', keeping)]]);
    const http = 'proxy_cache_path kept keys_zone=kept:1m;';
    const nginx = configurationOf(await putNginx({ files, http }));
    const { findings } = await plane.examine({ nginx });
    expect(findings.map(({ code, probe }) => `${code} ${probe}`)).toEqual([
      ...overTheWire,
      'cache_key_incomplete proxy.nginx.verdicts',
    ]);
    expect(findings.at(-1)?.what).toContain(`by a key without ${lacking}:`);
  });
});

/** Passes a request on as it is. */
function passTo(url: string): Handler {
  return (req, res, body) => {
    const { method = 'GET', rawHeaders, url: path = '/' } = req;
    pass(`${url}${path}`, { method, headers: rawHeaders, body }, res);
  };
}

/** The same for a request that a backend has seen. What is protected is no part of the admin service, and answers 200. */
function passSeenTo(url: string): Answer {
  return (seen, res) => {
    if (/^\/(?:api|v1)\//.test(seen.path)) echo(seen, res);
    else pass(`${url}${seen.path}`, { ...seen, headers: seen.rawHeaders }, res);
  };
}

function pass(
  url: string,
  sent: { readonly method: string; readonly headers: readonly string[]; readonly body: string },
  res: ServerResponse,
): void {
  const { method, headers, body } = sent;
  const asked = request(url, { method, headers }, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(res);
  });
  asked.on('error', () => res.destroy());
  asked.end(body);
}
