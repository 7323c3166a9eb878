/**
 * Which files of the bundle are loaded.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { installedAt, type Place } from '../../conformance/wire/process.ts';

const LOAD_MS = 20_000;
const run = promisify(execFile);

/** An installed command whose processes and threads write down what they load. */
export interface WatchedCommand extends Place {
  /** Names of the files in `dist` that none of them has loaded so far. */
  unloaded(): readonly string[];
  /** Loads these in a process of its own. @throws With what it said when one does not load. */
  loadRest(): Promise<void>;
}

/** @param folder - With `node_modules`; the record is kept there. */
export function watchCommand(folder: string): WatchedCommand {
  const installation = join(folder, 'node_modules/sallyport');
  const record = join(folder, 'loaded');
  const hook = `
    import { appendFileSync } from 'node:fs';
    import { registerHooks } from 'node:module';
    registerHooks({
      load(url, context, next) {
        const name = /\\/sallyport\\/dist\\/(.+)$/.exec(url)?.[1];
        if (name !== undefined) appendFileSync(${JSON.stringify(record)}, name + '\\n');
        return next(url, context);
      },
    });`;
  const place = installedAt(join(installation, 'bin/sallyport.js'));
  const watching = `NODE_OPTIONS=--import data:text/javascript,${encodeURIComponent(hook)}`;
  const watched = ['/usr/bin/env', watching];
  const unloaded = (): readonly string[] => {
    const loaded = existsSync(record) ? readFileSync(record, 'utf8').split('\n') : [];
    return readdirSync(join(installation, 'dist')).filter((name) => !loaded.includes(name));
  };
  return {
    ...place,
    program: [...watched, ...place.program],
    unloaded,
    async loadRest() {
      const urls = unloaded().map((name) => pathToFileURL(join(installation, 'dist', name)).href);
      const loading = `for (const url of ${JSON.stringify(urls)}) await import(url);`;
      const [program, ...args] = [...watched, process.execPath, '--input-type=module'];
      await run(program, [...args, '--eval', loading], { timeout: LOAD_MS });
    },
  };
}
