/**
 * `session.redis` as the session store takes it, with files that are read again for every connection.
 *
 * @module
 */

import {
  formatConfigProblem,
  openKeyFile,
  openSecretFile,
  type RedisConfig,
  type SecretFileOptions,
} from '@sallyport/config';
import { accept, SallyportError } from '@sallyport/protocol';
import type { RedisSessionStoreOptions } from '@sallyport/server';
import type { Log } from '@sallyport/server/observe';
import { logSecretFile } from './client-secret.ts';

/** What the configuration says about the store. */
type RedisSettings = Omit<RedisSessionStoreOptions, 'now' | 'monotonic' | 'log'>;

/**
 * Selects the store's settings. Reads every file that they name once, so that a wrong path is
 * reported before anything starts.
 *
 * @throws {SallyportError} `SP_CONFIG_INVALID` when a file cannot be used.
 */
export function selectRedisSettings(redis: RedisConfig, log: Log): RedisSettings {
  const { username, database, tls } = redis;
  return {
    topology: selectTopology(redis, log),
    access: {
      username,
      database,
      password: readPassword(redis.passwordLocation, 'session.redis.passwordLocation', log),
      tls: tls.enabled ? readTls(tls, log) : undefined,
    },
    keyPrefix: redis.keyPrefix,
    replicas: redis.replicas,
    commandTimeoutMs: redis.commandTimeoutMs,
    allowWithoutAppendOnlyFile: redis.allowWithoutAppendOnlyFile,
  };
}

function selectTopology(redis: RedisConfig, log: Log): RedisSettings['topology'] {
  const addresses = redis.addresses.map(parseAddress);
  switch (redis.mode) {
    case 'standalone': {
      const [address] = addresses;
      if (address === undefined) throw new TypeError('a rule of the configuration asks for one');
      return { mode: 'standalone', address };
    }
    case 'sentinel': {
      const key = 'session.redis.sentinelPasswordLocation';
      const password = readPassword(redis.sentinelPasswordLocation, key, log);
      return { mode: 'sentinel', sentinels: addresses, master: redis.sentinelMaster, password };
    }
    case 'cluster':
      return { mode: 'cluster', seeds: addresses };
  }
}

/** Splits `host:port`; the brackets of an IPv6 address are the URL's, not the network's. */
function parseAddress(text: string): { readonly host: string; readonly port: number } {
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(text.slice(colon + 1)) };
}

function readPassword(path: string, key: string, log: Log): () => string {
  if (path === '') return () => '';
  return readAgain((common) =>
    openSecretFile({
      ...common,
      ...logSecretFile(log, key),
      path,
      key,
      secretKey: 'password',
    }),
  );
}

function readTls(
  { caFile, certFile, keyFile, serverName }: RedisConfig['tls'],
  log: Log,
): NonNullable<RedisSettings['access']['tls']> {
  const readers = [
    { name: 'ca', path: caFile, read: readPem(caFile, 'caFile', 'ca.crt', log) },
    { name: 'cert', path: certFile, read: readPem(certFile, 'certFile', 'tls.crt', log) },
    { name: 'key', path: keyFile, read: readPem(keyFile, 'keyFile', 'tls.key', log) },
    { name: 'servername', path: serverName, read: () => serverName },
  ].filter(({ path }) => path !== '');
  return () => Object.fromEntries(readers.map(({ name, read }) => [name, read()]));
}

function readPem(
  path: string,
  name: string,
  secretKey: SecretFileOptions['secretKey'],
  log: Log,
): () => string {
  if (path === '') return () => '';
  const key = `session.redis.tls.${name}`;
  const logging = logSecretFile(log, key);
  return readAgain((common) =>
    openKeyFile({ ...common, ...logging, path, key, secretKey, parse: accept }),
  );
}

/** Opens a file that is read again each time its value is asked for, which is once a connection. */
function readAgain(
  open: (common: Pick<SecretFileOptions, 'trigger'>) => ReturnType<typeof openSecretFile>,
): () => string {
  let reread: (() => void) | undefined;
  const opened = open({
    trigger: (again) => {
      reread = again;
      return () => {};
    },
  });
  if (!opened.ok)
    throw new SallyportError('SP_CONFIG_INVALID', {
      component: 'store:redis',
      detail: formatConfigProblem(opened.error),
    });
  return () => {
    reread?.();
    return opened.value.current();
  };
}
