/**
 * An issuer whose metadata name another one: found by every part that asks it, logged once for all of them.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import { describeIssuers } from './issuer-difference.ts';

/**
 * The metadata are those of another issuer than the one configured. Nothing of them is used.
 *
 * @see [RFC 8414 section 3.3](https://www.rfc-editor.org/rfc/rfc8414#section-3.3) identical issuer
 */
export class IssuerMismatch extends SallyportError {
  readonly configured: string;
  /** As the metadata have it. Untrusted, of any type. */
  readonly found: unknown;
  /** Both values, and what to do. */
  readonly detail: string;

  constructor(configured: string, found: unknown) {
    const detail = describeIssuers(configured, found);
    super('SP_IDP_PROTOCOL', { component: 'idp', detail: `issuer of its metadata: ${detail}` });
    this.configured = configured;
    this.found = found;
    this.detail = detail;
  }
}
