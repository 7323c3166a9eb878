/**
 * The configuration of an nginx in front of the platform, as files: buffers, and the key of kept verdicts.
 *
 * @module
 */

import { PATHS } from '@sallyport/protocol';
import { type Finding, fail } from '../finding/finding.ts';
import { found, type Probe, skipped } from '../graph/probe.ts';
import { findLocation, type Location, listChecks, type Site, wordsOf } from '../nginx/site.ts';
import { listVariables } from '../nginx/variables.ts';
import type { NginxSubject } from '../subject.ts';
import { BUFFER_FIX, isRoomEnough } from './proxy-buffers.ts';

/** One page of memory, on most machines. */
const DEFAULT_BUFFER = '4k';
const DEFAULT_KEY = '$scheme$proxy_host$request_uri';

/**
 * Makes `proxy.nginx`, `proxy.nginx.buffers` and `proxy.nginx.verdicts`: what the servers do that ask a check
 * (`auth_request`). What runs may differ from the files.
 */
export function createNginxProbes(
  { name, sites }: NginxSubject,
  bearerHeader: string,
): readonly Probe[] {
  const guarded: Probe<readonly Site[]> = {
    id: 'proxy.nginx',
    group: 'proxy',
    title: `servers of ${name} that ask a check`,
    needs: [],
    run() {
      const asking = sites.filter((site) => listChecks(site).length > 0);
      return asking.length === 0 ? skipped(`no server in ${name} has auth_request`) : found(asking);
    },
  };
  const buffers: Probe = {
    id: 'proxy.nginx.buffers',
    group: 'proxy',
    title: 'the buffers of nginx for a sign-in',
    needs: [guarded],
    run: (answers) => found(undefined, answers.get(guarded).flatMap(judgeBuffers)),
  };
  const verdicts: Probe = {
    id: 'proxy.nginx.verdicts',
    group: 'proxy',
    title: 'the key of verdicts that nginx keeps',
    needs: [guarded],
    run: (answers) =>
      found(
        undefined,
        answers.get(guarded).flatMap((site) => judgeVerdicts(site, bearerHeader)),
      ),
  };
  return [guarded, buffers, verdicts];
}

function judgeBuffers(site: Site): readonly Finding[] {
  const small = [PATHS.login, PATHS.callback].flatMap((path) => {
    const location = findLocation(site, path);
    if (location === undefined || wordsOf(location, 'proxy_pass') === undefined) return [];
    const [size = DEFAULT_BUFFER] = wordsOf(location, 'proxy_buffer_size') ?? [];
    return isRoomEnough(size) ? [] : [{ path, location, size }];
  });
  const [first] = small;
  if (first === undefined) return [];
  return [
    fail(
      'proxy_buffers_small',
      `nginx takes ${first.size} of headers from ${small.map(({ path }) => path).join(' and ')}: it answers 502 to a sign-in with a long deep link`,
      BUFFER_FIX,
      small.map(({ location, size }) => describe(site, location, `proxy_buffer_size ${size}`)),
    ),
  ];
}

function judgeVerdicts(site: Site, bearerHeader: string): readonly Finding[] {
  return listChecks(site).flatMap((path): readonly Finding[] => {
    const location = findLocation(site, path);
    if (location === undefined) return [];
    const [zone = 'off'] = wordsOf(location, 'proxy_cache') ?? [];
    if (zone === 'off') return [];
    const [key = DEFAULT_KEY] = wordsOf(location, 'proxy_cache_key') ?? [];
    const parts = listVariables(key, location);
    const bearer = `http_${bearerHeader.replaceAll('-', '_')}`;
    const hasCookie = [...parts].some(
      (part) => part === 'http_cookie' || part.startsWith('cookie_'),
    );
    const lacking = [
      ...(parts.has(bearer) ? [] : [`$${bearer}`]),
      ...(hasCookie ? [] : ['$http_cookie']),
    ];
    if (lacking.length === 0) return [];
    return [
      fail(
        'cache_key_incomplete',
        `nginx keeps answers of the check ${path} by a key without ${lacking.join(' and ')}: one person gets the access of another`,
        `Take proxy_cache off that location, or set proxy_cache_key to "$http_authorization$${bearer}$http_cookie"; sallyport recipe nginx --verdict-cache writes one that is safe.`,
        [describe(site, location, `proxy_cache_key ${key}`)],
      ),
    ];
  });
}

function describe({ name }: Site, { title }: Location, said: string): string {
  return `server ${name}, location ${title}: ${said}`;
}
