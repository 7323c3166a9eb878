/**
 * Who of the verified may enter: the `access` rules.
 *
 * @module
 */

import type { JsonValue, Principal } from '@sallyport/protocol';

/** The rules; each list that is not empty must be met. All empty admits everyone whom the IdP authenticates. */
export interface AccessRules {
  readonly tenants: readonly string[];
  readonly groups: readonly string[];
  /** Lower case. Matched against a verified e-mail address only. */
  readonly emailDomains: readonly string[];
  /** Applications that may enter, by client id; does not concern people. */
  readonly clientIds: readonly string[];
  readonly tenantClaim: string;
  readonly groupsClaim: string;
  /** Takes an address without `email_verified` as verified, for an issuer that is known to check. */
  readonly emailTrusted: boolean;
}

/** Which rule was not met. For the audit event; the wire only says `not_allowed`. */
export type AccessRefusal = 'tenant' | 'group' | 'email_domain' | 'client_id';

/**
 * Decides whether an identity may enter.
 *
 * Groups and e-mail domains say something about people only, so where they are required an application
 * enters by `clientIds` alone. Tenants concern both.
 *
 * @param claims - Claims of a verified token, untrusted in shape: any type may stand under any name.
 * @param clientId - The client an application's token was issued to; by default its subject.
 *
 * @returns The first rule that was not met, or `undefined`: may enter.
 */
export function findAccessRefusal(
  principal: Principal,
  claims: Readonly<Record<string, JsonValue>>,
  rules: AccessRules,
  clientId: string = principal.subject,
): AccessRefusal | undefined {
  if (rules.tenants.length > 0 && !meets(rules.tenants, claims[rules.tenantClaim])) return 'tenant';
  if (principal.kind === 'app') {
    const isNamedOnly =
      rules.clientIds.length + rules.groups.length + rules.emailDomains.length > 0;
    return isNamedOnly && !rules.clientIds.includes(clientId) ? 'client_id' : undefined;
  }
  if (rules.groups.length > 0 && !meets(rules.groups, claims[rules.groupsClaim])) return 'group';
  if (
    rules.emailDomains.length > 0 &&
    !rules.emailDomains.includes(emailDomain(selectEmail(claims, rules.emailTrusted)))
  ) {
    return 'email_domain';
  }
  return undefined;
}

/** The e-mail address of the claims when it may be believed, else empty. */
export function selectEmail(
  claims: Readonly<Record<string, JsonValue>>,
  emailTrusted: boolean,
): string {
  const { email, email_verified: verified } = claims;
  return typeof email === 'string' && (verified === true || emailTrusted) ? email : '';
}

/** The claims the rules look at: what a session has to keep so that it can be judged again. */
export function selectAccessClaims(
  claims: Readonly<Record<string, JsonValue>>,
  rules: AccessRules,
): Readonly<Record<string, JsonValue>> {
  const kept: Record<string, JsonValue> = {};
  for (const name of ['email', 'email_verified', rules.tenantClaim, rules.groupsClaim]) {
    const value = claims[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

function meets(wanted: readonly string[], claim: JsonValue | undefined): boolean {
  const values = Array.isArray(claim) ? claim : [claim];
  return values.some((value) => typeof value === 'string' && wanted.includes(value));
}

/**
 * The domain of an address with exactly one `@`, printable ASCII only (CVE-2026-40574: `a@evil@corp`).
 * Lower case comes last: U+212A (Kelvin sign) would become an ASCII `k` before it is looked at.
 */
function emailDomain(email: string): string {
  return /^[\x21-\x3f\x41-\x7e]+@([A-Za-z0-9.-]+)$/.exec(email)?.[1]?.toLowerCase() ?? '';
}
