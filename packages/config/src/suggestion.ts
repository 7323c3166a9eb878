/**
 * What an unknown key was probably meant to be.
 *
 * @module
 */

import { NAMES_BY_BLOCK, SETTINGS } from './schema/schema.ts';

const LISTED_MAX = 8;

/**
 * Completes "expected …" for a key that does not exist.
 *
 * Looks for a similar name in the same block, then for the same name elsewhere in the schema; else
 * lists the block's names when they are few.
 *
 * @param block - Dotted key of the block the name stands in; empty for the top of the file.
 * @param name - The unknown name. Untrusted.
 */
export function suggestKey(block: string, name: string): string {
  const reason = NOT_TAKEN.get(joinKey(block, name));
  if (reason !== undefined) return `no such key: ${reason}`;
  const names = NAMES_BY_BLOCK.get(block) ?? [];
  const similar = findClosest(name, names);
  if (similar !== undefined) return `${joinKey(block, similar)} (did you mean that?)`;
  const elsewhere = findElsewhere(name);
  if (elsewhere !== undefined) return `${elsewhere} (did you mean that?)`;
  return names.length <= LISTED_MAX ? `one of ${names.join(', ')}` : 'a documented key';
}

/** Puts a name under a block. */
export function joinKey(block: string, name: string): string {
  return block === '' ? name : `${block}.${name}`;
}

/** Keys that existing deployments have and that mean nothing here, each with the reason. */
const NOT_TAKEN: ReadonlyMap<string, string> = new Map([
  ['auth.disableForHttp', 'enforcement is never switched off for one transport'],
  ['auth.disableForGrpc', 'enforcement is never switched off for one transport'],
  ['auth.appAuth.selfAuthServer', 'Sallyport issues no tokens itself'],
  [
    'auth.userAuth.openId.clientSecretName',
    'name the file in auth.userAuth.openId.clientSecretFile',
  ],
  ['auth.userAuth.openId.clientSecret', 'name a file in auth.userAuth.openId.clientSecretFile'],
  ['auth.userAuth.openId.privateKey', 'name a file in auth.userAuth.openId.privateKeyLocation'],
  ['auth.userAuth.openId.issuerUrl', 'auth.userAuth.openId.baseUrl is the issuer'],
  ['auth.userAuth.cookieHashKeySecretName', 'session.keyRingFile holds the keys'],
  ['auth.userAuth.cookieBlockKeySecretName', 'session.keyRingFile holds the keys'],
  ['server.security.secure', 'the proxy in front ends TLS'],
  ['server.security.ssl', 'the proxy in front ends TLS'],
  ['server.security.insecureCookieHeader', 'publicUrl decides whether cookies are Secure'],
  ['union.auth.clientSecret', 'name a file in union.auth.clientSecretLocation'],
  ['admin.clientSecret', 'name a file in admin.clientSecretLocation'],
  ['admin.useAuth', 'admin.authType says how to authenticate'],
  [
    'admin.authorizationServerUrl',
    'the platform publishes it; admin.tokenUrl gives the token endpoint',
  ],
  ['admin.maxBackoffDelay', 'how often to try again is decided by each answer'],
  ['admin.perRetryTimeout', 'how often to try again is decided by each answer'],
  ['admin.maxRetries', 'how often to try again is decided by each answer'],
  ['admin.maxMessageSizeBytes', 'no messages are sent to the admin service'],
  ['admin.defaultServiceConfig', 'no messages are sent to the admin service'],
  ['admin.proxyCommand', 'a second credential for a proxy is not sent'],
  ['admin.httpProxyURL', 'HTTPS_PROXY, HTTP_PROXY and NO_PROXY name the proxy'],
  ['admin.pkceConfig.refreshTime', 'admin.tokenRefreshWindow says when a token is replaced'],
  ['admin.deviceFlowConfig.refreshTime', 'admin.tokenRefreshWindow says when a token is replaced'],
  ['admin.deviceFlowConfig.pollInterval', 'the identity provider says how often to ask'],
]);

/** The only place of the whole schema that has a name, or ends in a dotted key. */
function findElsewhere(name: string): string | undefined {
  const wanted = name.toLowerCase();
  const blocks = [...NAMES_BY_BLOCK.keys(), ...SETTINGS.map(({ key }) => key)].filter(
    (key) => key.toLowerCase() === wanted || key.toLowerCase().endsWith(`.${wanted}`),
  );
  return blocks.length === 1 ? blocks[0] : undefined;
}

/** The candidate that a name was probably meant to be; `undefined` when none is near. */
export function findClosest(name: string, candidates: readonly string[]): string | undefined {
  const limit = name.length <= 4 ? 1 : name.length <= 8 ? 2 : 3;
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(simplify(name), simplify(candidate));
    if (distance <= limit && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { candidate, distance };
  }
  return best?.candidate;
}

function simplify(name: string): string {
  return name.slice(0, 64).toLowerCase().replaceAll(/[-_]/g, '');
}

/** Fewest insertions, deletions, replacements and swaps of neighbours between two short words. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const choices = [
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        ...(isSwapped && row > 1 && column > 1 ? [(beforeLast[column - 2] ?? 0) + 1] : []),
      ];
      current.push(Math.min(...choices));
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
