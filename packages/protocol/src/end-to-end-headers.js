/**
 * The one place that takes hop-by-hop fields out of a message.
 *
 * @module
 */
import { HOP_BY_HOP_HEADERS } from './header-names.js';
/**
 * Selects the fields that travel end to end: drops hop-by-hop fields, those the sender lists in
 * `Connection`, and HTTP/2 pseudo-headers.
 *
 * An intermediary adds its own fields after this step, never before: a caller's
 * `Connection: x-user-subject` must not take away what the verdict says.
 *
 * @param rawHeaders - Node's flat name-value list. Untrusted.
 *
 * @returns Pairs in the order sent, names in lower case; a repeated name stays repeated.
 *
 * @see [RFC 9110 section 7.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1) Connection
 * @see [RFC 9113 section 8.2.2](https://www.rfc-editor.org/rfc/rfc9113#section-8.2.2) not in HTTP/2
 */
export function selectEndToEndHeaders(rawHeaders) {
  const named = connectionOptions(rawHeaders);
  const kept = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    if (name.startsWith(':') || HOP_BY_HOP_HEADERS.has(name) || named.has(name)) continue;
    kept.push([name, rawHeaders[index + 1] ?? '']);
  }
  return kept;
}
function connectionOptions(rawHeaders) {
  const named = new Set();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== 'connection') continue;
    for (const option of (rawHeaders[index + 1] ?? '').split(','))
      named.add(option.trim().toLowerCase());
  }
  return named;
}
//# sourceMappingURL=end-to-end-headers.js.map
