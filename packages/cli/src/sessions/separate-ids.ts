/**
 * Session ids that begin with a dash, told from options.
 *
 * @module
 */

import type { Command } from 'commander';

/** An id, or a whole cookie value given by mistake. */
const DASHED_ID = /^-[A-Za-z0-9_-]{7}(?:\.|$)/;

/**
 * Puts the ids of `sessions revoke` that begin with a dash behind `--`, so that they are read as ids:
 * one id in 64 begins so, and nobody should have to know.
 *
 * What is written as an option of the command is that option, and what follows an option that takes a
 * value is its value.
 *
 * @param program - Has the commands.
 * @param args - The command line after the program's name.
 */
export function separateIds(program: Command, args: readonly string[]): readonly string[] {
  const command = [args[0], args[1]].reduce<Command | undefined>(
    (within, name) => within?.commands.find((each) => each.name() === name),
    program,
  );
  if (args[0] !== 'sessions' || args[1] !== 'revoke' || command === undefined) return args;
  const others: string[] = [];
  const ids: string[] = [];
  for (let index = 2; index < args.length; index += 1) {
    const word = args[index] ?? '';
    if (word === '--') {
      ids.push(...args.slice(index + 1));
      break;
    }
    const option = command.options.find(({ long }) => long === word);
    if (option === undefined && DASHED_ID.test(word)) ids.push(word);
    else others.push(word);
    const value = args[index + 1];
    if (option?.required === true && value !== undefined) {
      others.push(value);
      index += 1;
    }
  }
  return [...args.slice(0, 2), ...others, ...(ids.length === 0 ? [] : ['--', ...ids])];
}
