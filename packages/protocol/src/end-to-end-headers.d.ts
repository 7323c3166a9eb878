/**
 * The one place that takes hop-by-hop fields out of a message.
 *
 * @module
 */
import { type HeaderPair } from './header-names.ts';
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
export declare function selectEndToEndHeaders(rawHeaders: readonly string[]): HeaderPair[];
//# sourceMappingURL=end-to-end-headers.d.ts.map
