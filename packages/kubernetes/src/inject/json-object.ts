/**
 * Reading JSON of which nothing is known: a pod is what its author made it.
 *
 * @module
 */

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: no array, no `null`. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member of an object itself, so that neither `__proto__` nor `constructor` finds anything inherited. */
export function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Whether a member is not there: Kubernetes takes `null` for absent. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}
