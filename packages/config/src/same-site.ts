/**
 * The requirement's SameSite policies as cookie attributes.
 *
 * @module
 */

/** Supported values of `auth.userAuth.cookieSetting.sameSitePolicy`. */
export type SameSitePolicy = 'LaxMode' | 'DefaultMode' | 'NoneMode';

/**
 * Selects the SameSite attribute of a policy.
 *
 * `StrictMode` has none: the browser would withhold the cookie on the redirect back from the IdP, so
 * that `/callback` could never find the sign-in it belongs to.
 *
 * @returns The attribute; `undefined` sends none and leaves it to the browser.
 *
 * @see [RFC 6265bis section 5.6.7](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.6.7) the attribute
 */
export function selectSameSite(policy: SameSitePolicy): 'Lax' | 'None' | undefined {
  switch (policy) {
    case 'LaxMode':
      return 'Lax';
    case 'NoneMode':
      return 'None';
    case 'DefaultMode':
      return undefined;
  }
}
