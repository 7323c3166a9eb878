/**
 * The unit of systemd that the package carries, read as systemd.syntax(7) has it.
 *
 * @module
 */

import { readFileSync } from 'node:fs';

/** `deploy/systemd/sallyport.service`. */
export const UNIT_FILE: string = new URL('../../deploy/systemd/sallyport.service', import.meta.url)
  .pathname;

/** Settings of the unit, whatever their section: each value by the setting's name, in order. */
export type Unit = ReadonlyMap<string, readonly string[]>;

/** Reads it. Knows comments and continued lines; no quotes and no specifiers. */
export function readUnit(text: string = readFileSync(UNIT_FILE, 'utf8')): Unit {
  const settings = new Map<string, string[]>();
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n');
  for (const line of lines.filter((each) => /^[A-Z]/.test(each))) {
    const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
    settings.set(name, [...(settings.get(name) ?? []), value]);
  }
  return settings;
}

/** The command line that the unit starts. */
export function startCommand(unit: Unit): readonly string[] {
  return unit.get('ExecStart')?.[0]?.split(' ') ?? [];
}

/** The variables that it sets. @param folders - Of the specifiers, such as `%C`. */
export function startEnvironment(
  unit: Unit,
  folders: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const pairs = (unit.get('Environment') ?? []).map((pair) => {
    const [name = '', value = ''] = pair.split('=', 2);
    return [name, value.replaceAll(/%./g, (specifier) => folders[specifier] ?? specifier)] as const;
  });
  return Object.fromEntries(pairs);
}
