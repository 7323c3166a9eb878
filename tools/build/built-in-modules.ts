/**
 * How a bundle gets at Node's own modules.
 *
 * @module
 */

/** One line each: a bundler writes them so. */
const IMPORT = /^import (?<names>[^;"]+) from "(?<module>node:[\w/]+)";$/gm;

/**
 * Has a chunk ask for Node's own modules instead of importing them. For an import Node looks up every export of the
 * module, and many of them load more when they are looked up: `node:fs` alone brings streams, the readers of lines
 * and the watchers of folders. That takes milliseconds of each start, and memory.
 *
 * @param code - As the bundler writes it: one statement a line, quotes doubled.
 */
export function askForBuiltInModules(code: string): string {
  return code.replaceAll(IMPORT, (...found) => {
    const { names = '', module = '' } = found.at(-1) as Readonly<Record<string, string>>;
    return declare(names, `process.getBuiltinModule("${module}")`);
  });
}

/** `a, { b as c }`, `* as a` and each half alone. */
function declare(names: string, value: string): string {
  const all = /^\* as (?<name>[\w$]+)$/.exec(names)?.groups?.['name'];
  if (all !== undefined) return `const ${all} = ${value};`;
  const { whole, named } = /^(?<whole>[\w$]+)?(?:, )?(?<named>\{.*\})?$/.exec(names)?.groups ?? {};
  return [
    ...(whole === undefined ? [] : [`const ${whole} = ${value};`]),
    ...(named === undefined ? [] : [`const ${named.replaceAll(' as ', ': ')} = ${value};`]),
  ].join(' ');
}
