/**
 * Options that name the administrator of a Keycloak.
 *
 * @module
 */

import type { Command } from 'commander';

/** Adds them. No secret is among them: other users of a machine can read its command lines. */
export function withAdministrator(command: Command): Command {
  return command
    .option('--admin-user <name>', 'Keycloak administrator (default: admin)')
    .option(
      '--admin-password-file <file>',
      'file of its password (default: $SALLYPORT_IDP_ADMIN_PASSWORD)',
    )
    .option('--admin-client-id <id>', 'Keycloak service account in place of a user')
    .option(
      '--admin-client-secret-file <file>',
      'file of its secret (default: $SALLYPORT_IDP_ADMIN_CLIENT_SECRET)',
    )
    .option('--admin-realm <name>', 'realm that the administrator is of', 'master');
}
