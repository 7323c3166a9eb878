/**
 * How an audience may be spelled.
 *
 * @module
 */

/** Scheme and host as they are written, the port, and the rest: path and query. No user information. */
const HTTP_URL = /^(https?):\/\/((?:[^\s/?#\\@:[\]]+|\[[0-9a-f:.]+\]))(?::(\d+))?((?:[/?].*)?)$/i;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' };

/**
 * Lists every spelling in which a configured audience is accepted, the written one first.
 *
 * An `aud` is compared character by character (RFC 7519 section 2, StringOrURI), so what may differ is
 * listed from the configured value: an http(s) URL has its scheme's own port written and left out, and,
 * where its path is empty, the final `/`. So `http://admin:80` is also `http://admin`,
 * `http://admin:80/` and `http://admin/`. Any other text has no second spelling.
 *
 * @param audience - From the configuration, not from a token: a token's is looked for in this list.
 */
export function listAudienceSpellings(audience: string): readonly string[] {
  const [, scheme = '', host = '', port, rest = ''] = HTTP_URL.exec(audience) ?? [];
  if (scheme === '' || rest.includes('#')) return [audience];
  const defaultPort = DEFAULT_PORTS[scheme.toLowerCase()];
  const ports = port === undefined || port === defaultPort ? ['', `:${defaultPort}`] : [`:${port}`];
  const rests = rest === '' || rest === '/' ? ['', '/'] : [rest];
  const spellings = ports.flatMap((each) => rests.map((end) => `${scheme}://${host}${each}${end}`));
  return [...new Set([audience, ...spellings])];
}
