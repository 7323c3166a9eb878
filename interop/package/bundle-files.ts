/**
 * Which files of the bundle are loaded.
 *
 * @module
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installedAt, type Place } from '../../conformance/wire/process.ts';

/** An installed command whose processes and threads write down what they load. */
export interface WatchedCommand extends Place {
  /** Names of the files in `dist` that none of them has loaded so far. */
  unloaded(): readonly string[];
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
  return {
    ...place,
    program: ['/usr/bin/env', watching, ...place.program],
    unloaded() {
      const loaded = existsSync(record) ? readFileSync(record, 'utf8').split('\n') : [];
      return readdirSync(join(installation, 'dist')).filter((name) => !loaded.includes(name));
    },
  };
}
