/**
 * `npm run go-tools`: builds the programs of Kubernetes that the tests of the charts need, where they are not built yet.
 *
 * @module
 */

import { buildGoTool, findBuiltGoTool, GO_TOOL_NAMES } from './cluster/go-tools.ts';
import { readOptions } from './command-line/usage.ts';

readOptions('usage: npm run go-tools', {});
for (const name of GO_TOOL_NAMES) {
  const isBuilt = findBuiltGoTool(name) !== undefined;
  if (!isBuilt) console.log(`building ${name}, which can take minutes`);
  const started = performance.now();
  const path = await buildGoTool(name);
  const seconds = Math.round((performance.now() - started) / 1_000);
  console.log(isBuilt ? `${path} is built` : `${path} built in ${seconds} s`);
}
