/**
 * Lets this process import the packages as they stand in the checkout, unbuilt.
 *
 * @module
 */

import { registerHooks } from 'node:module';

let isRegistered = false;

/** To be called before a module that imports a package is imported, dynamically. */
export function importFromSource(): void {
  if (isRegistered) return;
  isRegistered = true;
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: ['source', ...context.conditions] }),
  });
}
