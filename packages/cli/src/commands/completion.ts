/**
 * `sallyport completion`: a script that lets a shell complete commands and options.
 *
 * @module
 */

import type { Command } from 'commander';
import { SHELLS, type Shell } from './shells.ts';

interface Completion {
  readonly name: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  /** Words its first argument may be. */
  readonly words: readonly string[];
  /** Commands below it; their options are theirs alone. */
  readonly commands: readonly Completion[];
}

interface CompletedOption {
  readonly flag: string;
  readonly description: string;
  /** `none` without a value, `file` for a path, `words` for one of a few. */
  readonly value: 'none' | 'file' | 'text' | readonly string[];
}

/** Writes the script for a shell from the commands there are. */
export function writeCompletion(program: Command, shell: Shell): string {
  const commands = program.commands.map(describeCommand);
  switch (shell) {
    case 'bash':
      return bashScript(commands);
    case 'zsh':
      return zshScript(commands);
    case 'fish':
      return fishScript(commands);
  }
}

function describeCommand(command: Command): Completion {
  return {
    name: command.name(),
    description: command.description(),
    options: [
      ...command.options
        .filter((option) => !option.hidden && option.long !== undefined)
        .map((option) => ({
          flag: option.long ?? '',
          description: option.description,
          value: readValue(option.flags, option.argChoices),
        })),
      { flag: '--help', description: 'display help for command', value: 'none' as const },
    ],
    words: command.name() === 'completion' ? SHELLS : command.commands.map((each) => each.name()),
    commands: command.commands.map(describeCommand),
  };
}

function readValue(
  flags: string,
  choices: readonly string[] | undefined,
): CompletedOption['value'] {
  if (choices !== undefined) return choices;
  const placeholder = /<(\w+)>/.exec(flags)?.[1];
  if (placeholder === undefined) return 'none';
  return placeholder === 'file' || placeholder === 'folder' ? 'file' : 'text';
}

function bashScript(commands: readonly Completion[]): string {
  const all = withSubcommands(commands);
  const groups = commands.filter((command) => command.commands.length > 0);
  const cases = all.map(({ name, options, words }) => {
    const flags = [...words, ...options.map(({ flag }) => flag)].join(' ');
    return `    ${quote(name)}) words=${quote(flags)} ;;`;
  });
  const values = uniqueOptions(all).flatMap(({ command, flag, value }) => {
    if (value === 'none') return [];
    if (value === 'file') return [`    "${command} ${flag}") compopt -o default; return ;;`];
    if (value === 'text') return [`    "${command} ${flag}") return ;;`];
    return [`    "${command} ${flag}") words=${quote(value.join(' '))}; is_value=1 ;;`];
  });
  return `# bash completion of sallyport: eval "$(sallyport completion bash)"
_sallyport() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local command='' words='' is_value='' index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${COMP_WORDS[index]}" in
    -*) ;;
    *)
      command="\${command:+$command }\${COMP_WORDS[index]}"
      case "$command" in
      ${groups.map(({ name }) => name).join('|')}) ;;
      *) break ;;
      esac
      ;;
    esac
  done
  case "$command $previous" in
${values.join('\n')}
  esac
  if [[ -z $is_value ]]; then
    case "$command" in
    '') words=${quote(`${commands.map(({ name }) => name).join(' ')} help --help --version`)} ;;
${cases.join('\n')}
    esac
  fi
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$words" -- "$current")
}
complete -F _sallyport sallyport
`;
}

function zshScript(commands: readonly Completion[]): string {
  return `#compdef sallyport
# zsh completion of sallyport: eval "$(sallyport completion zsh)"
_sallyport() {
  local -a commands
  commands=(${zshNames(commands)})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command="\${words[2]}"
  shift words
  (( CURRENT-- ))
  case "$command" in
${commands.map(zshCase).join('\n')}
  esac
}
if [[ "\${funcstack[1]}" = _sallyport ]]; then
  _sallyport "$@"
else
  compdef _sallyport sallyport
fi
`;
}

function zshCase(command: Completion): string {
  const { name, words, commands } = command;
  if (commands.length === 0) return `    ${name}) ${zshArguments(command, words)} ;;`;
  const below = commands.map((each) => `      ${each.name}) ${zshArguments(each, each.words)} ;;`);
  return `    ${name})
      commands=(${zshNames(commands)})
      if (( CURRENT == 2 )); then
        _describe command commands
        ${zshArguments(command, [])}
        return
      fi
      command="\${words[2]}"
      shift words
      (( CURRENT-- ))
      case "$command" in
${below.join('\n')}
      esac
      ;;`;
}

function zshNames(commands: readonly Completion[]): string {
  return commands
    .map(({ name, description }) => quote(`${name}:${describe(description)}`))
    .join(' ');
}

function zshArguments({ options }: Completion, words: readonly string[]): string {
  const specs = options.map(({ flag, description, value }) =>
    quote(`${flag}[${describe(description)}]${zshValue(value)}`),
  );
  if (words.length > 0) specs.push(quote(`1:argument:(${words.join(' ')})`));
  return `_arguments ${specs.join(' ')}`;
}

function zshValue(value: CompletedOption['value']): string {
  if (value === 'none') return '';
  if (value === 'file') return ':path:_files';
  return value === 'text' ? ':value:' : `:value:(${value.join(' ')})`;
}

function fishScript(commands: readonly Completion[]): string {
  const lines = commands.flatMap((command) => {
    const { name, description, words, commands: below } = command;
    const isSeen = `__fish_seen_subcommand_from ${name}`;
    const isLast =
      below.length === 0
        ? isSeen
        : `${isSeen}; and not __fish_seen_subcommand_from ${words.join(' ')}`;
    return [
      `complete -c sallyport -f -n __fish_use_subcommand -a ${name} -d ${quoteFish(description)}`,
      ...below.map(
        (each) =>
          `complete -c sallyport -f -n ${quoteFish(isLast)} -a ${each.name} -d ${quoteFish(each.description)}`,
      ),
      ...fishOptions(command, isLast),
      ...below.flatMap((each) =>
        fishOptions(each, `${isSeen}; and __fish_seen_subcommand_from ${each.name}`),
      ),
      ...(words.length === 0 || below.length > 0
        ? []
        : [`complete -c sallyport -f -n '${isSeen}' -a ${quoteFish(words.join(' '))}`]),
    ];
  });
  return `# fish completion of sallyport: sallyport completion fish | source\n${lines.join('\n')}\n`;
}

function fishOptions({ options }: Completion, condition: string): string[] {
  return options.map(({ flag, description, value }) => {
    const rest =
      value === 'none'
        ? ''
        : value === 'file'
          ? ' -r -F'
          : ` -x${value === 'text' ? '' : ` -a ${quoteFish(value.join(' '))}`}`;
    const files = rest.includes('-F') ? '' : ' -f';
    return `complete -c sallyport${files} -n ${quoteFish(condition)} -l ${flag.slice(2)} -d ${quoteFish(description)}${rest}`;
  });
}

/** Each with those below it, which are named as they are written: `sessions list`. */
function withSubcommands(commands: readonly Completion[]): readonly Completion[] {
  return commands.flatMap((command) => [
    command,
    ...command.commands.map((below) => ({ ...below, name: `${command.name} ${below.name}` })),
  ]);
}

function uniqueOptions(
  commands: readonly Completion[],
): readonly (CompletedOption & { readonly command: string })[] {
  return commands.flatMap(({ name, options }) =>
    options.map((option) => ({ ...option, command: name })),
  );
}

/** Colons and brackets separate the parts of zsh's descriptions. */
function describe(text: string): string {
  return text
    .replaceAll(/[:[\]]/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function quoteFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
