/**
 * Which hosts are this machine.
 *
 * Three other places name loopback addresses for another question: what a document from outside must not name
 * (`issuer/endpoint-address.ts` of the server, every internal network), where a redirect URI is listened for
 * (`loopback/redirect-uri.ts` of the client) and which hosts no proxy is asked for (`sign-in/network.ts` of the command).
 *
 * @module
 */

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Whether a host is one of the three usual names of this machine: `localhost`, `127.0.0.1` or `[::1]`.
 *
 * The strict rule: for settings of the server and for addresses that an issuer names, where one spelling is enough.
 *
 * @param host - A URL's `hostname`.
 */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_HOSTS.has(host);
}

/**
 * Whether a host never leaves this machine: {@link isLoopbackHost}, every address of 127.0.0.0/8, and names below
 * `localhost`.
 *
 * The wide rule, on purpose: for the platform that a program itself names to send its tokens to, which a development
 * cluster offers as `http://flow.localhost`. Does not resolve the name.
 *
 * @param host - A URL's `hostname`, which has one spelling for each IPv4 address.
 * @see [RFC 6761 section 6.3](https://www.rfc-editor.org/rfc/rfc6761#section-6.3) names below `localhost`
 */
export function isOnThisMachine(host: string): boolean {
  return isLoopbackHost(host) || host.endsWith('.localhost') || /^127(?:\.\d{1,3}){3}$/.test(host);
}
