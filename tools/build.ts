/**
 * `npm run build`: makes what is published, below dist/ or the folder of `--out`.
 *
 * `dist/packages/cli` is the command as npm installs it: `node dist/packages/cli/bin/sallyport.js`.
 *
 * @module
 */

import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildCommand } from './build/build-command.ts';
import { OUTPUT } from './build/layout.ts';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const output = resolve(values.out ?? OUTPUT);
await buildCommand(output);
console.log(`built in ${output}`);
