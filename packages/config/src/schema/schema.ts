/**
 * The whole schema, as a tree and as a list.
 *
 * @module
 */

import type { Config } from '../config.ts';
import { AUTH_SCHEMA } from './auth.ts';
import { CLIENTS_SCHEMA } from './clients.ts';
import { SALLYPORT_SCHEMA } from './sallyport-keys.ts';
import type { SchemaOf, Setting } from './setting.ts';

const SCHEMA: SchemaOf<Config> = { ...SALLYPORT_SCHEMA, auth: AUTH_SCHEMA, ...CLIENTS_SCHEMA };

/** A setting together with its place. */
export interface PlacedSetting {
  /** Dotted key. */
  readonly key: string;
  readonly path: readonly string[];
  readonly setting: Setting<unknown>;
}

/** The command that asks for the configuration. */
export type Consumer = 'serve';

/** Blocks of the file that a command does not read: they are checked, and reported as not used. */
export const FOREIGN_BLOCKS: Readonly<Record<Consumer, readonly string[]>> = {
  serve: [
    'union.auth',
    'admin',
    'executions.app.adminClient.connection',
    'unionAuth',
    'secrets.admin',
    'secrets.adminOauthClientCredentials',
  ],
};

/** Every setting, in the order of the documentation. */
export const SETTINGS: readonly PlacedSetting[] = listSettings(SCHEMA, []);

/** Every setting by its dotted key. */
export const SETTING_BY_KEY: ReadonlyMap<string, PlacedSetting> = new Map(
  SETTINGS.map((placed) => [placed.key, placed]),
);

/** The names under each block, by the block's dotted key; the empty key is the top of the file. */
export const NAMES_BY_BLOCK: ReadonlyMap<string, readonly string[]> = listBlocks();

/** Whether a dotted key is a block's own or lies in it. */
export function isWithin(key: string, block: string): boolean {
  return key === block || key.startsWith(`${block}.`);
}

function listSettings(node: object, path: readonly string[]): PlacedSetting[] {
  return Object.entries(node).flatMap(([name, child]: [string, object]) => {
    const childPath = [...path, name];
    return 'kind' in child
      ? [{ key: childPath.join('.'), path: childPath, setting: child as Setting<unknown> }]
      : listSettings(child, childPath);
  });
}

function listBlocks(): ReadonlyMap<string, readonly string[]> {
  const blocks = new Map<string, Set<string>>();
  for (const { path } of SETTINGS) {
    for (const [depth, name] of path.entries()) {
      const block = path.slice(0, depth).join('.');
      blocks.set(block, (blocks.get(block) ?? new Set()).add(name));
    }
  }
  return new Map([...blocks].map(([block, names]) => [block, [...names]]));
}
