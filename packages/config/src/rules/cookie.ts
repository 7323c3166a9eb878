/**
 * The session cookie's attributes against the public origin.
 *
 * @module
 */

import { describeFound } from '../problems.ts';
import type { Rule } from './rule.ts';

const POLICY = 'auth.userAuth.cookieSetting.sameSitePolicy';
const DOMAIN = 'auth.userAuth.cookieSetting.domain';

/** `NoneMode` needs https, and weakens; `DefaultMode` depends on the browser. */
export const SAME_SITE_RULE: Rule = {
  keys: ['publicUrl', POLICY],
  check: ({ config }) => {
    const policy = config.auth.userAuth.cookieSetting.sameSitePolicy;
    const found = describeFound(policy);
    if (policy === 'LaxMode') return [];
    if (policy === 'DefaultMode') {
      const expected = 'LaxMode: without the attribute some browsers send the cookie across sites';
      return [{ key: POLICY, found, expected, isWarning: true }];
    }
    if (!config.publicUrl.startsWith('https:'))
      return [{ key: POLICY, found, expected: 'LaxMode: NoneMode needs an https publicUrl' }];
    const expected = 'LaxMode, unless pages of another site have to carry the session';
    return [{ key: POLICY, found, expected, isWarning: true }];
  },
};

/**
 * A cookie domain is the public host or a parent domain of it, and every host below it receives the
 * cookie (RFC 6265 section 5.1.3).
 */
export const COOKIE_DOMAIN_RULE: Rule = {
  keys: ['publicUrl', DOMAIN],
  check: ({ config }) => {
    const { domain } = config.auth.userAuth.cookieSetting;
    if (domain === '') return [];
    const host = URL.parse(config.publicUrl)?.hostname ?? '';
    const found = describeFound(domain);
    const isParent = host === domain || host.endsWith(`.${domain}`);
    if (!isParent)
      return [{ key: DOMAIN, found, expected: `empty, or a parent domain of ${host}` }];
    const expected = `empty: every host under ${domain} receives the session cookie`;
    return [{ key: DOMAIN, found, expected, isWarning: true }];
  },
};
