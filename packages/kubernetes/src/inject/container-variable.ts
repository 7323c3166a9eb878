/**
 * The variable in one container.
 *
 * @module
 */

import { API_KEY_VARIABLE, STRONGER_API_KEY_VARIABLE } from '@sallyport/protocol';
import type { InjectionWarning } from './injection-warning.ts';
import { isAbsent, isJsonObject, type JsonObject, memberOf } from './json-object.ts';

/**
 * Adds an entry at the end of a container's `env`, so that the entries before it keep their order and none of
 * them expands `$(EAGER_API_KEY)`. Any entry of that name stays, and nothing is added beside it.
 *
 * @param warnings - Gets what to say about this container.
 * @returns The same value when nothing was added.
 */
export function addVariable(
  container: unknown,
  entry: JsonObject,
  path: string,
  warnings: InjectionWarning[],
): unknown {
  if (!isJsonObject(container)) {
    warnings.push({ reason: 'not_an_object', path });
    return container;
  }
  const env = memberOf(container, 'env');
  if (isAbsent(env)) return { ...container, env: [entry] };
  if (!Array.isArray(env)) {
    warnings.push({ reason: 'not_a_list', path: `${path}.env` });
    return container;
  }
  let isNamed = false;
  for (const [index, variable] of env.entries()) {
    const name = memberOf(variable, 'name');
    const place = `${path}.env[${index}]`;
    if (name === STRONGER_API_KEY_VARIABLE)
      warnings.push({ reason: 'stronger_variable', path: place });
    if (name !== API_KEY_VARIABLE) continue;
    isNamed = true;
    if (!isSameReference(variable, entry)) warnings.push({ reason: 'own_value_kept', path: place });
  }
  return isNamed ? container : { ...container, env: [...env, entry] };
}

/** Whether a variable comes from the same key of the same Secret, and has to be there. */
function isSameReference(variable: unknown, entry: JsonObject): boolean {
  const wanted = memberOf(memberOf(entry, 'valueFrom'), 'secretKeyRef');
  const source = memberOf(variable, 'valueFrom');
  const reference = memberOf(source, 'secretKeyRef');
  return (
    isJsonObject(source) &&
    Object.keys(source).length === 1 &&
    memberOf(reference, 'name') === memberOf(wanted, 'name') &&
    memberOf(reference, 'key') === memberOf(wanted, 'key') &&
    (memberOf(reference, 'optional') ?? false) === false &&
    (memberOf(variable, 'value') ?? '') === ''
  );
}
