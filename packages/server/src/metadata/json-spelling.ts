/**
 * The two spellings in which clients read metadata as JSON.
 *
 * @module
 */

/** Bytes of one document, prepared for each spelling. */
export interface PreparedJson {
  /** For `Accept: application/json`, exactly. */
  readonly snakeCase: Buffer;
  /** For all other clients: each member under both names. */
  readonly bothCases: Buffer;
}

/**
 * Prepares a document whose members are named in snake_case.
 *
 * RFC 8414 clients read snake_case and must ignore members they do not know (section 3.2);
 * tools made for the platform's JSON gateway read camelCase.
 */
export function prepareJson(members: Readonly<Record<string, unknown>>): PreparedJson {
  const camelCase = Object.entries(members).map(([name, value]) => [toCamelCase(name), value]);
  return {
    snakeCase: Buffer.from(JSON.stringify(members)),
    bothCases: Buffer.from(JSON.stringify({ ...members, ...Object.fromEntries(camelCase) })),
  };
}

function toCamelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
