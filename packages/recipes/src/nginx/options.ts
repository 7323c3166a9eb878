/**
 * The command line of the generator: what can be said, and what is wrong with what was said.
 *
 * @module
 */

import { isAbsolute } from 'node:path';
import { parseArgs } from 'node:util';
import { accept, type Result, ROUTE_GROUPS, refuse } from '@sallyport/protocol';
import { findOpenFolder } from '@sallyport/server/listener';
import { harmless } from './harmless.ts';
import { claimHeader, DEFAULT_RECIPE, RECIPE_FOLDER, type RecipeOptions } from './recipe.ts';
import { VERDICT_FOLDER } from './verdict-cache.ts';

/** What the command was asked for. */
export interface CommandLine {
  readonly isHelp: boolean;
  /** Folder to write to. */
  readonly out: string;
  readonly recipe: RecipeOptions;
}

/** How to call it. */
export const USAGE: string = `usage: node --conditions=source tools/generate-nginx-recipe.ts [options]

Writes the generated files of the nginx recipe. What is not named is not in the recipe: repeat every
option you gave before.

  --out FOLDER            where to write, usually /etc/nginx/sallyport; made if it is not there
                          (deploy/nginx/sallyport of the checkout)
  --claim NAME            a claim of claimHeaders; once for each (${DEFAULT_RECIPE.claims.join(', ')}, unless one is named)
  --bearer-header NAME    auth.httpAuthorizationHeader or auth.grpcAuthorizationHeader, where it is not
                          the default; once for each
  --strip-header NAME     a header of stripHeaders; once for each
  --upstream ADDRESS      where Sallyport is: host and port, or unix: and the path of server.listen; the site
                          then names no upstream sallyport_admin and sallyport_admin_grpc of its own
  --verdict-cache         lets nginx keep verdicts for as long as doors.me.verdictCache says
  --verdict-folder PATH   where it keeps them, in memory and nobody else's (${VERDICT_FOLDER})
  --help                  this text`;

const OPTIONS = {
  out: { type: 'string' },
  claim: { type: 'string' },
  'bearer-header': { type: 'string' },
  'strip-header': { type: 'string' },
  upstream: { type: 'string' },
  'verdict-cache': { type: 'boolean' },
  'verdict-folder': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

type OptionName = keyof typeof OPTIONS;
type Values = Readonly<Partial<Record<OptionName, readonly string[]>>>;

const HEADER_SHAPE = 'the name of a header: letters, digits and -';
const CLAIM_SHAPE = 'the name of a claim, of letters, digits and . _ : / -';
const UPSTREAM_SHAPE = 'unix: and an absolute path, or host and port';
const FOLDER_SHAPE = 'an absolute path of letters, digits and . _ - /';

/**
 * Reads the arguments.
 *
 * Looks at the verdict folder where it is there already, or at what lies above it: what this machine
 * cannot see, it does not judge.
 *
 * @returns What was asked for; or one line that names the option, and what was expected of it.
 */
export function parseCommandLine(args: readonly string[]): Result<CommandLine, string> {
  const read = readValues(args);
  if (!read.ok) return read;
  const { value: values } = read;
  const keepsVerdicts = values['verdict-cache'] !== undefined;
  const folder = values['verdict-folder']?.at(-1);
  const problem =
    checkNames('claim', values, CLAIM_SHAPE, claimHeader) ??
    checkNames('bearer-header', values, HEADER_SHAPE, (name) => harmless('header', name)) ??
    checkNames('strip-header', values, HEADER_SHAPE, (name) => harmless('header', name)) ??
    checkNames('upstream', values, UPSTREAM_SHAPE, (name) => harmless('upstream', name)) ??
    (folder !== undefined && !keepsVerdicts
      ? '--verdict-folder: expected --verdict-cache beside it, without which nothing is kept'
      : undefined) ??
    (keepsVerdicts ? checkFolder(folder ?? VERDICT_FOLDER) : undefined);
  if (problem !== undefined) return refuse(problem);
  return accept({
    isHelp: values.help !== undefined,
    out: values.out?.at(-1) ?? RECIPE_FOLDER.pathname,
    recipe: {
      routes: ROUTE_GROUPS,
      claims: values.claim ?? DEFAULT_RECIPE.claims,
      bearerHeaders: values['bearer-header'] ?? [],
      stripHeaders: values['strip-header'] ?? [],
      upstream: values.upstream?.at(-1),
      verdictFolder: keepsVerdicts ? (folder ?? VERDICT_FOLDER) : undefined,
    },
  });
}

/** Sorts the arguments by option. Not strict, because the runtime's own messages take more than a line. */
function readValues(args: readonly string[]): Result<Values, string> {
  const values: Partial<Record<OptionName, readonly string[]>> = {};
  const { tokens } = parseArgs({
    args: [...args],
    options: OPTIONS,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional')
      return refuse(`${quote(token.value)}: expected an option; --help names them`);
    const { name, rawName, value, inlineValue } = token;
    if (!isOption(name)) return refuse(`${rawName}: no such option, expected ${listOptions()}`);
    const takesValue = OPTIONS[name].type === 'string';
    if (!takesValue && value !== undefined)
      return refuse(`--${name}: found ${quote(value)}, expected no value`);
    if (takesValue && (value ?? '') === '') return refuse(`--${name}: expected a value`);
    if (inlineValue === false && value.startsWith('-'))
      return refuse(`--${name}: found ${quote(value)}, expected a value`);
    values[name] = [...(values[name] ?? []), value ?? ''];
  }
  return accept(values);
}

function isOption(name: string): name is OptionName {
  return Object.hasOwn(OPTIONS, name);
}

function listOptions(): string {
  const names = Object.keys(OPTIONS).map((name) => `--${name}`);
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

function checkNames(
  option: OptionName,
  values: Values,
  expected: string,
  check: (name: string) => string,
): string | undefined {
  for (const name of values[option] ?? []) {
    try {
      check(name);
    } catch {
      return `--${option}: found ${quote(name)}, expected ${expected}`;
    }
  }
  return undefined;
}

function checkFolder(folder: string): string | undefined {
  const found = `--verdict-folder: found ${quote(folder)}`;
  try {
    harmless('folder', folder);
  } catch {
    return `${found}, expected ${FOLDER_SHAPE}`;
  }
  if (!isAbsolute(folder)) return `${found}, expected ${FOLDER_SHAPE}`;
  const open = findOpenFolder(folder);
  return open === undefined
    ? undefined
    : `${found}, expected a folder that nobody but nginx can put there: others may write to ${open}`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
