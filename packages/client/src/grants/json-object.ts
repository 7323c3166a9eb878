/**
 * JSON text that is to be an object.
 *
 * @module
 */

/** The object's own members; `undefined` for any other text. Untrusted in, untrusted out. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
