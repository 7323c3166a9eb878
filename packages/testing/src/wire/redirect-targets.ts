/**
 * What attackers put into redirect parameters, for a service and for the function that decides.
 *
 * @module
 */

/** Origin of another server that the redirect payloads take for an allowed one. */
export const DOCS_ORIGIN = 'https://docs.example:8443';

/**
 * Lists redirect targets that lead to the root of the service and never elsewhere, by the trick they rely on.
 *
 * @param origin - Of the service, without a default port.
 */
export function listRedirectAttacks(origin: string): Readonly<Record<string, readonly string[]>> {
  const { protocol, host, hostname } = new URL(origin);
  const scheme = protocol.slice(0, -1);
  const otherScheme = scheme === 'https' ? 'http' : 'https';
  return {
    slashes: [
      '//evil.example',
      `//${host}/`,
      `/\\${host}/`,
      '///evil.example',
      '////evil.example/..',
      '/./\\evil.example',
      '/..//evil.example',
      '/.//evil.example',
      '/a/..//evil.example',
      '/%2e//evil.example',
      '/%2e%2e//evil.example',
      `${origin}//evil.example`,
      `${origin}/.//evil.example`,
    ],
    'backslashes and control characters': [
      '/\\evil.example',
      '/\\/evil.example',
      '\\/\\/evil.example',
      '/\t/evil.example',
      '/\n/evil.example',
      '/\r/evil.example',
      '/a\u007fb',
      '/%09/evil.example',
      '/%0a/evil.example',
      '/%0d%0aSet-Cookie:x=1',
      '/\r\nSet-Cookie:x=1',
      '/%5cevil.example',
      '/%2f%2fevil.example',
      '/%2fevil.example',
      '/%2fresolve.invalid/x',
      '/a/..%2f%2fevil.example',
      `${origin}\\evil.example`,
      `${origin}\\@evil.example`,
      `${origin}\\/evil.example`,
      `${origin}/a\\b`,
      `${origin}/%5cevil.example`,
    ],
    'forms of the scheme': [
      'https:evil.example',
      'https:/evil.example',
      'https:///evil.example',
      'HTTPS://evil.example',
      'http:\\\\evil.example',
      'ht\ttps://evil.example',
      `${scheme}:${host}/`,
      `${scheme}:/${host}/`,
      `${scheme}:///${host}/`,
      `${otherScheme}://${host}/`,
      `ftp://${host}/`,
      ` ${origin}/`,
      ' //evil.example',
    ],
    'user info and host confusion': [
      `//${host}@evil.example`,
      `${origin}@evil.example`,
      `${scheme}://${hostname}:443@evil.example`,
      `https://${hostname}%40evil.example`,
      `https://${hostname}%2eevil.example`,
      `https://evil.example#${host}`,
      `https://evil.example?${host}`,
      `https://evil.example\\.${hostname}`,
      `https://evil.example%5c.${hostname}`,
      `${scheme}://user@${host}/`,
      `${scheme}://user:password@${host}/`,
      `${scheme}://:@evil.example/`,
    ],
    'hosts that look alike': [
      `${origin}.evil.example`,
      `${scheme}://${hostname}.evil.example`,
      `${scheme}://evil-${hostname}`,
      'https://evil。example',
      'https://ｅvil.example',
      'https://xn--god-2na.example',
      'https://xn--lcalhost-80a.example',
      `${scheme}://${hostname}.`,
      `${scheme}://${hostname}.:1/`,
      `${scheme}://${hostname.toUpperCase()}:1/`,
      `${scheme}://${hostname}:444/`,
      'https://docs.example/',
      'http://docs.example:8443/',
      'https://docs.example.:8443/',
    ],
    'numeric hosts': [
      'http://[::1]',
      'https://[::1]',
      'http://127.0.0.1/',
      'http://0x7f000001',
      'https://0x7f000001',
      'http://2130706433',
      'https://2130706433',
      'https://0330.072.0326.0316',
    ],
    'script schemes': [
      'javascript:alert(1)',
      `jaVAscript://${host}/%0aalert(1)`,
      'data:text/html,x',
      'vbscript:x',
      `blob:${origin}/x`,
      '%19javascript:alert(1)',
      '" onmouseover=alert(1)',
    ],
    'pieces of a host': [';@evil.example', '@evil.example', '.evil.example', 'evil.example'],
    'degenerate text': [
      '',
      '\u0000',
      '/\u0000',
      `/${'a'.repeat(8_192)}`,
      '\ufeff',
      '\ufeff//evil.example',
      '\u202e//evil.example',
      '\u2066https://evil.example',
      '?x',
      '#x',
    ],
  };
}

/** Paths with query and fragment that are kept byte for byte. */
export const DEEP_LINKS: readonly string[] = [
  '/',
  '/console/projects/flytesnacks/domains/development?x=1&y=%20z#/fragment',
  '/a?next=//evil.example&back=\\x&third=%2F%2Fevil.example',
  '/a//b',
  '/a%2Fb/%3Fc',
  '/caf%C3%A9/%E2%80%99',
  '/%F0%9F%9A%80?emoji=%F0%9F%9A%80',
  '/a%20b/~user/x;v=1,2/$&+=:@!*()',
  '/.well-known/openid-configuration',
  '/a.b/..c/d..',
  '/@evil.example',
  '/a/@evil.example:80/',
  '/?a=1?b=2#c?d',
  "/it's",
];

/**
 * Yields the payload, and the same behind one and two percent-encodings; the first slash as it is, so that it
 * still is a path.
 */
export function* spellRedirectTarget(payload: string): Generator<string> {
  let whole = payload;
  let afterSlash = payload.slice(1);
  yield payload;
  // What is encoded already gets one layer less: two decodings are looked at.
  for (let layers = payload.includes('%') ? 1 : 2; layers > 0; layers -= 1) {
    whole = encodeURIComponent(whole);
    yield whole;
    if (!payload.startsWith('/')) continue;
    afterSlash = encodeURIComponent(afterSlash);
    yield `/${afterSlash}`;
  }
}
