/**
 * Port: the log of the embedded IdP.
 *
 * @module
 */

/** Events of the embedded IdP. The names are stable. */
export type IdpEvent =
  | 'idp.api_key.created'
  | 'idp.api_key.refused'
  | 'idp.api_key.revoked'
  | 'idp.authorization.refused'
  | 'idp.backchannel_logout.delivered'
  | 'idp.backchannel_logout.failed'
  | 'idp.device.refused'
  | 'idp.failed'
  | 'idp.grant.revoked'
  | 'idp.introspection.refused'
  | 'idp.revocation.refused'
  | 'idp.sign_in.automatic'
  | 'idp.sign_in.limited'
  | 'idp.sign_in.refused'
  | 'idp.sign_in.succeeded'
  | 'idp.sign_out.refused'
  | 'idp.sign_out.succeeded'
  | 'idp.token.issued'
  | 'idp.token.refused'
  | 'idp.userinfo.refused';

/** Writes one event. No field is ever a secret. */
export type LogIdpEvent = (
  event: IdpEvent,
  fields: Readonly<Record<string, string | number | boolean>>,
) => void;
