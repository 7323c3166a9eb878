/**
 * Every command by its name, as `sallyport --help` lists it. What a command takes and runs is declared where the
 * command line names it (`declarations.ts`): to declare all of them takes a third of what a short command takes beyond
 * the start of Node.
 *
 * @module
 */

import type { Command } from 'commander';
import { SHELLS } from './shells.ts';

/** A command as the list has it. */
export interface ListedCommand {
  readonly description: string;
  /** Its one argument, what that is, and what it is when it is not given. The declaration says how it is read. */
  readonly argument?: readonly [syntax: string, description: string, fallback?: string];
  /** It has commands below it, and no options of its own. */
  readonly isGroup?: true;
}

/** Name of a command below `sallyport`. */
export type CommandName =
  | 'init'
  | 'up'
  | 'serve'
  | 'agent'
  | 'inject'
  | 'healthcheck'
  | 'create-keys'
  | 'rotate-keys'
  | 'sessions'
  | 'apikey'
  | 'idp'
  | 'recipe'
  | 'doctor'
  | 'login'
  | 'logout'
  | 'whoami'
  | 'status'
  | 'token'
  | 'completion';

/** In the order of `sallyport --help`. */
const COMMANDS: Readonly<Record<CommandName, ListedCommand>> = {
  init: {
    description:
      'make a folder to run serve from: configuration, key ring, places of secrets, recipe of a proxy',
    argument: ['[folder]', 'where to write; nothing in it is replaced', 'sallyport'],
  },
  up: {
    description:
      'run the whole plane on this machine: identity provider, admin service, gateway, protected console',
  },
  serve: { description: "run the admin service's authentication for production" },
  agent: {
    description: 'keep a token fresh for programs in any language: in a file, or on a Unix socket',
  },
  inject: {
    description:
      'answer the API server of Kubernetes: the webhook that gives task pods their API key',
  },
  healthcheck: {
    description: 'ask the running service whether it is ready; 0 when it is, else 1',
  },
  'create-keys': {
    description: 'make a key ring in a Kubernetes Secret, where there is none; replicas share it',
  },
  'rotate-keys': {
    description: 'add a key to the key ring; it seals ten minutes later; sessions continue',
  },
  sessions: {
    description: 'see who is signed in, and end sessions; for operators, beside a running server',
    isGroup: true,
  },
  apikey: {
    description: 'issue the API keys that task pods call back with, and revoke them',
    isGroup: true,
  },
  idp: {
    description: 'set up the applications at an identity provider, and prove that they work',
    isGroup: true,
  },
  recipe: {
    description:
      'write the configuration of a reverse proxy that asks Sallyport about every request',
    isGroup: true,
  },
  doctor: {
    description: 'find why a sign-in does not work, and what to do about it; repairs nothing',
    argument: ['[url]', "the platform's public URL (default: that of the configuration)"],
  },
  login: { description: 'sign in to a platform and keep the tokens' },
  logout: { description: 'revoke and delete the tokens' },
  whoami: { description: 'ask the platform who is signed in' },
  status: {
    description: 'show profiles, where settings come from, and whether tokens are usable',
  },
  token: { description: 'print an access token and nothing else' },
  completion: {
    description: 'print a script that completes commands and options',
    argument: ['<shell>', SHELLS.join(', ')],
  },
};

/** Every name, in the order of the list. */
export const COMMAND_NAMES = Object.keys(COMMANDS) as readonly CommandName[];

const GROUPS: ReadonlySet<string> = new Set(COMMAND_NAMES.filter((name) => COMMANDS[name].isGroup));

/** Adds a command as the list has it: it has neither options nor commands below it yet, and runs nothing. */
export function addListedCommand(program: Command, name: CommandName): Command {
  const { description, argument } = COMMANDS[name];
  const command = program.command(name).description(description);
  return argument === undefined ? command : command.argument(...argument);
}

/**
 * What stands for a command in the list of `--help`: the same for one that is not declared yet as commander writes
 * for one that is.
 */
export function formatTerm(command: Command): string {
  const name = command.name();
  return GROUPS.has(name) ? name : `${name} ${command.usage()}`;
}
