/**
 * Putting the recipe where nginx reads it.
 *
 * @module
 */

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UPSTREAM_FILE, VERDICT_CACHE_FILE } from './recipe.ts';

const RELOAD = 'then nginx -t, and nginx -s reload';

/**
 * Writes the files, and makes the folder for them; what another recipe had and this one has not goes.
 *
 * @returns What was done and what is left to do, a line each.
 * @throws What the file system says.
 */
export function writeRecipe(folder: string, files: ReadonlyMap<string, string>): readonly string[] {
  mkdirSync(folder, { recursive: true });
  const kept = join(folder, VERDICT_CACHE_FILE);
  const keepsVerdicts = files.has(VERDICT_CACHE_FILE);
  const keptVerdicts = existsSync(kept);
  if (!keepsVerdicts) rmSync(kept, { force: true });
  if (!files.has(UPSTREAM_FILE)) rmSync(join(folder, UPSTREAM_FILE), { force: true });
  for (const [name, content] of files) writeFileSync(join(folder, name), content);
  return [
    `${files.size} files written to ${folder}`,
    ...(existsSync(join(folder, 'http.conf'))
      ? []
      : ['next: copy deploy/nginx/sallyport/http.conf there, which is not generated']),
    ...(files.has(UPSTREAM_FILE)
      ? ['next: take the upstreams sallyport_admin and sallyport_admin_grpc out of the site']
      : []),
    ...(keepsVerdicts
      ? [`next: set doors.me.verdictCache in Sallyport's configuration (2s to 5s), ${RELOAD}`]
      : []),
    ...(keptVerdicts && !keepsVerdicts
      ? [
          `${VERDICT_CACHE_FILE} removed: nginx keeps no verdicts; set doors.me.verdictCache to 0s, ${RELOAD}`,
        ]
      : []),
  ];
}
