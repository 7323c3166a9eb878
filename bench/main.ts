/**
 * `npm run bench -- CASE`: measurements side by side, in one interleaved run.
 *
 * @module
 */

import { benchBearer, benchBearerCold } from './bearer.ts';
import { benchMe } from './me.ts';
import { benchMetadata } from './metadata.ts';
import { benchTokenCommand } from './token-command.ts';

const CASES: Readonly<Record<string, () => Promise<void>>> = {
  me: benchMe,
  bearer: benchBearer,
  'bearer-cold': benchBearerCold,
  metadata: benchMetadata,
  'token-command': benchTokenCommand,
};

const name = process.argv[2] ?? '';
const run = CASES[name];
if (run === undefined) {
  console.error(`usage: npm run bench -- ${Object.keys(CASES).join(' | ')}`);
  process.exit(2);
}
await run();
