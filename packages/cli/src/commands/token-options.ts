/**
 * Options of `sallyport token` as data: the command line declares them, and the short way reads them.
 *
 * @module
 */

import type { TokenOptions } from './token.ts';

/** Flags as `--help` shows them, and what they are for. */
export type DeclaredOption = readonly [flags: string, description: string];

/** Options of every command that talks to a platform. */
export const PLATFORM_OPTIONS: readonly DeclaredOption[] = [
  ['--endpoint <url>', 'address of the platform'],
  ['--profile <name>', 'the profile to use'],
  ['--config <file>', 'YAML file of profiles, instead of your own'],
  ['--ca-file <file>', 'certificates (PEM) to trust beside those of the system'],
  ['--json', 'print as JSON, errors too'],
];

/** Further options of `token`. The value of `--min-ttl` is checked beside. */
export const TOKEN_OPTIONS: readonly DeclaredOption[] = [
  ['--header', 'print it as the header line the platform reads'],
  ['--exec-credential', 'print it as a Kubernetes ExecCredential'],
  ['--min-ttl <duration>', 'how long it must still live (default: 5m)'],
  ['--no-login', 'never ask a person'],
];

/** Whether a text has the form of a duration on the command line: of Go's `time.ParseDuration`, without a sign. */
export function isDurationOption(text: string): boolean {
  return /^(?:\d{1,9}(?:\.\d{1,6})?(?:ms|s|m|h))+$/.test(text);
}

/**
 * Reads the words behind `token`, as far as they are whole flags, each with its value as the next word.
 *
 * @returns The same as the command line would make of them; `undefined` for anything else, such as a joined value,
 *   a value that begins with "-", `--help` or a mistake: the command line knows what to make of that.
 */
export function readTokenOptions(words: readonly string[]): TokenOptions | undefined {
  const read: Record<string, string | boolean> = {};
  for (let at = 0; at < words.length; at += 1) {
    const declared = DECLARED.get(words[at] ?? '');
    if (declared === undefined) return undefined;
    const { name, value } = declared;
    if (value !== undefined) read[name] = value;
    else {
      at += 1;
      const given = words[at] ?? '';
      if (given === '' || given.startsWith('-')) return undefined;
      read[name] = given;
    }
  }
  return read;
}

/** Each flag with the member of the options that it sets, and to what; without that, to the next word. */
const DECLARED: ReadonlyMap<string, { readonly name: string; readonly value?: boolean }> = new Map(
  [...PLATFORM_OPTIONS, ...TOKEN_OPTIONS].map(([flags]) => {
    const [flag = '', placeholder] = flags.split(' ');
    const isNegated = flag.startsWith('--no-');
    const name = flag
      .slice(isNegated ? '--no-'.length : '--'.length)
      .replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    return [flag, placeholder === undefined ? { name, value: !isNegated } : { name }];
  }),
);
