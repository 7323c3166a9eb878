/**
 * `npm run python-clients`: makes the environments of released Python packages that the tests run, where they are not
 * there yet.
 *
 * @module
 */

import { findPythonClients, findPythonProvider } from '../interop/python/python-clients.ts';
import { readOptions } from './command-line/usage.ts';

readOptions('usage: npm run python-clients', {});
for (const { name, path, missingBecause } of await Promise.all([
  findPythonClients(),
  findPythonProvider(),
]))
  console.log(`${name}: ${path ?? missingBecause}`);
