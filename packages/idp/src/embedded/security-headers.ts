/**
 * Headers that every answer of the embedded IdP carries.
 *
 * @module
 */

import { applicationsOf, type IdpSpec } from '../spec/idp-spec.ts';
import { STYLE_SOURCE } from './pages/style.ts';

/**
 * Builds the headers.
 *
 * `script-src` is empty: no script runs. The directive has to stand there because the provider
 * adds the hash of its one script to it, on the pages that submit themselves. `form-action` names
 * the origins of the registered redirect URIs for `response_mode=form_post`.
 */
export function buildSecurityHeaders(spec: IdpSpec): readonly (readonly [string, string])[] {
  const origins = applicationsOf(spec)
    .flatMap(({ redirectUris, postLogoutRedirectUris }) => [
      ...redirectUris,
      ...postLogoutRedirectUris,
    ])
    .map((uri) => new URL(uri).origin);
  const policy = [
    "default-src 'none'",
    'script-src',
    `style-src ${STYLE_SOURCE}`,
    'img-src data:',
    `form-action 'self' ${[...new Set(origins)].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

  return [
    ['content-security-policy', policy],
    ['x-content-type-options', 'nosniff'],
    ['x-frame-options', 'DENY'],
    ['referrer-policy', 'no-referrer'],
    ['cross-origin-opener-policy', 'same-origin'],
    ['cache-control', 'no-store'],
  ];
}
