/**
 * As much of JSON Schema (2020-12) as docs/doctor.schema.json uses.
 *
 * @module
 */

/** A schema. */
export type Schema = Readonly<Record<string, unknown>>;

const SILENT: ReadonlySet<string> = new Set(['$schema', '$id', 'title', 'description']);

/**
 * Lists what is wrong with a value, as paths with the keyword.
 *
 * @throws {TypeError} For a keyword that is not known here: it would be left unchecked.
 */
export function listViolations(schema: Schema, value: unknown, path = '$'): readonly string[] {
  return Object.entries(schema).flatMap(([keyword, given]): readonly string[] => {
    if (SILENT.has(keyword)) return [];
    const refuse = (holds: boolean): readonly string[] => (holds ? [] : [`${path}: ${keyword}`]);
    switch (keyword) {
      case 'type':
        return refuse(typeOf(value) === given);
      case 'const':
        return refuse(value === given);
      case 'enum':
        return refuse((given as readonly unknown[]).includes(value));
      case 'pattern':
        return refuse(typeof value !== 'string' || new RegExp(String(given), 'u').test(value));
      case 'required':
        return refuse(
          (given as readonly string[]).every((name) => Object.hasOwn(Object(value), name)),
        );
      case 'properties':
        return Object.entries(given as Readonly<Record<string, Schema>>).flatMap(([name, inner]) =>
          Object.hasOwn(Object(value), name)
            ? listViolations(inner, (value as Schema)[name], `${path}.${name}`)
            : [],
        );
      case 'additionalProperties': {
        const known = Object.keys(Object(schema['properties']));
        return refuse(
          given !== false || Object.keys(Object(value)).every((name) => known.includes(name)),
        );
      }
      case 'items':
        return Array.isArray(value)
          ? value.flatMap((item, at) => listViolations(given as Schema, item, `${path}[${at}]`))
          : [];
      default:
        throw new TypeError(`${keyword} is not checked here`);
    }
  });
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
