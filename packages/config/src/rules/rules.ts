/**
 * All rules, in one list.
 *
 * @module
 */

import { COOKIE_DOMAIN_RULE, SAME_SITE_RULE } from './cookie.ts';
import {
  CLAIM_HEADERS_RULE,
  EXECUTIONS_HEADER_RULE,
  SERVICE_HEADER_RULE,
  STRIPPED_BEARER_RULE,
} from './headers.ts';
import { OPENID_SCOPE_RULE, PUBLIC_ISSUER_RULE } from './identity-provider.ts';
import type { Rule } from './rule.ts';
import {
  CLIENT_SECRET_RULE,
  SAME_CLIENT_RULE,
  STAND_IN_RULE,
  SWITCHED_OFF_RULE,
} from './service-app.ts';
import { LIFETIME_RULE, REDIRECT_URL_RULE, TRUSTED_PROXIES_RULE } from './sign-in.ts';

/** Every rule. */
export const RULES: readonly Rule[] = [
  SAME_SITE_RULE,
  COOKIE_DOMAIN_RULE,
  CLAIM_HEADERS_RULE,
  EXECUTIONS_HEADER_RULE,
  SERVICE_HEADER_RULE,
  STRIPPED_BEARER_RULE,
  OPENID_SCOPE_RULE,
  PUBLIC_ISSUER_RULE,
  CLIENT_SECRET_RULE,
  SAME_CLIENT_RULE,
  STAND_IN_RULE,
  SWITCHED_OFF_RULE,
  LIFETIME_RULE,
  REDIRECT_URL_RULE,
  TRUSTED_PROXIES_RULE,
];
