/**
 * Who a caller is, once verified.
 *
 * @module
 */
/** Any value JSON can carry. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | {
      readonly [name: string]: JsonValue;
    };
/**
 * The identity a verdict admits. `subject` is unique only within `issuer`, so every index, lock,
 * cache and revocation key starts with the issuer.
 */
export interface Principal {
  readonly issuer: string;
  readonly subject: string;
  /** A person, or an application that holds client credentials. */
  readonly kind: 'user' | 'app';
}
/**
 * What is known about a principal: the fields of `flyteidl.service.IdentityService/UserInfo`
 * Empty string when unknown.
 */
export interface UserRecord {
  readonly subject: string;
  readonly name: string;
  readonly preferredUsername: string;
  readonly givenName: string;
  readonly familyName: string;
  readonly email: string;
  readonly picture: string;
  /** Claims kept by the allow-list, by their claim name. */
  readonly additionalClaims: Readonly<Record<string, JsonValue>>;
}
//# sourceMappingURL=principal.d.ts.map
