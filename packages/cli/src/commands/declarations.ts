/**
 * What each command takes and runs, by its name in the list of commands.
 *
 * @module
 */

import type { Command } from 'commander';
import type { Stdio } from '../terminal/stdio.ts';
import { declareApiKey } from './apikey-command.ts';
import {
  declareCompletion,
  declareLogin,
  declareLogout,
  declareStatus,
  declareToken,
  declareWhoami,
} from './client-commands.ts';
import type { CommandName } from './command-list.ts';
import { declareDoctor } from './doctor-command.ts';
import { declareIdp } from './idp-command.ts';
import { declareInit } from './init-command.ts';
import { declareCreateKeys, declareRotateKeys } from './key-commands.ts';
import { declareRecipe } from './recipe.ts';
import {
  declareAgent,
  declareHealthcheck,
  declareInject,
  declareServe,
  declareUp,
} from './server-commands.ts';
import { declareSessions } from './sessions-command.ts';

/** Gives a command of the list its options, the commands below it and its action. The action loads its code. */
export type Declaration = (command: Command, stdio: Stdio) => void | Promise<void>;

/** One for each command of the list. */
export const DECLARATIONS: Readonly<Record<CommandName, Declaration>> = {
  init: declareInit,
  up: declareUp,
  serve: declareServe,
  agent: declareAgent,
  inject: declareInject,
  healthcheck: declareHealthcheck,
  'create-keys': declareCreateKeys,
  'rotate-keys': declareRotateKeys,
  sessions: declareSessions,
  apikey: declareApiKey,
  idp: declareIdp,
  recipe: declareRecipe,
  doctor: declareDoctor,
  login: declareLogin,
  logout: declareLogout,
  whoami: declareWhoami,
  status: declareStatus,
  token: declareToken,
  completion: declareCompletion,
};
