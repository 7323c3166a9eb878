/**
 * The rooms of each package, from the bottom to the top. ARCHITECTURE.md says what each room is for.
 *
 * @module
 */

/**
 * Rooms by the folder of a package's source. A file imports from its own room and from rooms above it in this
 * list only. A room is a folder; `session/renewal` is a room of its own, not a part of `session`. The empty
 * name stands for the files directly in the folder.
 */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'packages/server/src': [
    'time',
    'log',
    'trace',
    'listener',
    'page',
    'issuer',
    'session',
    'audit',
    'session/renewal',
    'verdict',
    'bearer',
    'issuer/relying-party',
    'answer',
    'observe',
    'doors',
    'metadata',
    'health',
    'sign-in',
    '',
  ],
  'packages/idp/src': ['exchange', 'spec', 'grants', 'api-keys', 'embedded', 'provision', ''],
  'packages/cli/src': [
    'process',
    'terminal',
    'cluster',
    'observe',
    'profile',
    'admin',
    'console',
    'sessions',
    'sign-in',
    'up',
    'idp',
    'api-keys',
    'serve',
    'agent',
    'inject',
    'init',
    'doctor',
    'commands',
    '',
  ],
};
