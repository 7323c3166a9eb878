/**
 * `IdentityService` of both generations of the platform: who the caller is.
 *
 * @module
 */

import { create, type JsonObject } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter, type HandlerContext } from '@connectrpc/connect';
import type { UserRecord } from '@sallyport/protocol';
import {
  IdentityService,
  IdentityService2,
  UserInfoResponseSchema,
  UserInfoResponseSchema2,
} from '@sallyport/protocol/protobuf';
import { identityKey } from '../doors/connect.ts';

/** Registers the service under both names. Protected: it answers what the door found out. */
export function registerIdentity(router: ConnectRouter): void {
  router.service(IdentityService, {
    userInfo: (_, context) => create(UserInfoResponseSchema, toMessage(userOf(context))),
  });
  router.service(IdentityService2, {
    userInfo: (_, context) => create(UserInfoResponseSchema2, toMessage(userOf(context))),
  });
}

/** A caller without an identity does not get here; if one did, the answer names no person. */
function userOf(context: HandlerContext): UserRecord {
  const identity = context.values.get(identityKey);
  if (identity === undefined) throw new ConnectError('Sign in first', Code.Unauthenticated);
  return identity.user;
}

/** The fields of the body of `/me`. */
function toMessage(user: UserRecord) {
  // Read from JSON, and never written to.
  return { ...user, additionalClaims: user.additionalClaims as JsonObject };
}
