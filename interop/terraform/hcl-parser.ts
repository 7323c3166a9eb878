/**
 * HashiCorp's own parser of the language of Terraform (tools/hcl), built once for a test file.
 *
 * @module
 */

import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { findPart, type Part, requirePart } from '../parts.ts';

/** Builds the parser. */
export const GO: Part = findPart('go');

/** A block as the parser understood it. A value that is no constant is `{ expression }`. */
export interface ParsedBlock {
  readonly type: string;
  readonly labels: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly blocks: readonly ParsedBlock[];
}

/** A parser that was built. */
export interface HclParser {
  /** @throws With what the parser says of a text that it does not understand. */
  parse(source: string): Promise<readonly ParsedBlock[]>;
  remove(): void;
}

const SOURCE = new URL('../../tools/hcl/', import.meta.url).pathname;
const run = promisify(execFile);

/** Builds it. The modules come from the module proxy, or from the cache of Go. */
export async function buildHclParser(): Promise<HclParser> {
  const folder = temporaryFolder();
  const program = join(folder.path, 'hcl');
  await run(requirePart(GO), ['build', '-mod=readonly', '-o', program, '.'], { cwd: SOURCE });
  return {
    async parse(source) {
      const child = spawn(program, { stdio: ['pipe', 'pipe', 'pipe'] });
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
      child.stdin.end(source);
      const [out, problems, code] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        ended,
      ]);
      if (code !== 0) throw new Error(problems);
      return JSON.parse(out) as readonly ParsedBlock[];
    },
    remove: () => folder.remove(),
  };
}
