/**
 * Which role of Keycloak an administrator needs for what. Pure.
 *
 * @module
 */

/** A role of an administrator. `manage-clients` includes `view-clients`. */
export type AdminRole =
  | 'create-realm'
  | 'manage-realm'
  | 'view-realm'
  | 'manage-clients'
  | 'view-clients';

/** Realm whose administrators may administrate others. */
const MASTER = 'master';

/**
 * Names the role that a request needs.
 *
 * @param path - Below `/admin/realms`.
 */
export function roleFor(method: string, path: string): AdminRole {
  const [, realm, object] = path.replace(/\?.*/, '').split('/');
  const isRead = method === 'GET';
  if (realm === undefined) return 'create-realm';
  if (object === undefined) return isRead ? 'view-realm' : 'manage-realm';
  return isRead ? 'view-clients' : 'manage-clients';
}

/**
 * Says that an administrator lacks a role, and where to give it: in the realm itself the client `realm-management` has the
 * roles, in `master` a client for each realm.
 *
 * @param path - Of a request: its first segment is the realm that the role is for.
 */
export function describeLack(role: AdminRole, path: string, adminRealm: string): string {
  const realm = decodeURIComponent(path.split(/[/?]/)[1] ?? '');
  const of =
    role === 'create-realm'
      ? ''
      : ` of the client ${adminRealm === MASTER ? `${realm}-realm` : 'realm-management'}`;
  return `the administrator lacks the role ${role}${of} in the realm ${adminRealm}`;
}
