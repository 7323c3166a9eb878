/**
 * A real Redis in a folder of its own, with the failures a store has to stand.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { createCertificates } from './certificates.ts';
import { type Access, connectRaw, type RawClient, type Reply, sendOnce } from './raw-client.ts';
import { type RedisProcess, startRedisProcess } from './redis-process.ts';

/** Settings of {@link startRedis}. */
export interface RedisOptions {
  /** Of the default user; without one every client is admitted. */
  readonly password?: string;
  /** A user of its access list; no other client is admitted. */
  readonly user?: {
    readonly name: string;
    readonly password: string;
    /** What it may do; everything when absent: `~* &* +@all`. */
    readonly rules?: string;
  };
  /** TLS in place of plain TCP; `mutual` asks clients for a certificate. */
  readonly tls?: 'server' | 'mutual';
  /** Keeps what was written, over restarts and kills; nothing is kept when absent. */
  readonly appendOnly?: boolean;
  /** Such as `2mb`; an empty server needs one. */
  readonly maxMemory?: string;
  /** What happens beyond `maxMemory`: `noeviction` (when absent), `allkeys-lru` and others. */
  readonly maxMemoryPolicy?: string;
  /** Port of the server whose data it copies. */
  readonly replicaOf?: number;
  /** Further lines of its configuration file. */
  readonly lines?: readonly string[];
}

/** A running server. */
export interface RedisServer {
  readonly port: number;
  /** As a client's settings name it, credentials included. */
  readonly url: string;
  /** The same URL with another port: of a proxy in front. */
  urlAt(port: number): string;
  /** What {@link connectRaw} needs, as the user of the options; with the files of TLS. */
  readonly access: Access;
  pid(): number;
  /** Sends a command over a connection of its own, as a user who may do everything. */
  send(...command: readonly string[]): Promise<Reply>;
  /** Connects as the user of the options. */
  connect(): Promise<RawClient>;
  /** Asks it to end; the folder stays. */
  shutDown(): Promise<void>;
  /** Ends it without asking; the folder stays. */
  kill(): Promise<void>;
  /** Starts it again on its port, with what it kept; one that still runs is asked to end before. */
  restart(): Promise<void>;
  /** Lets it stand still: connections stay open, new ones are accepted by the system, nothing is answered. */
  pause(): void;
  resume(): void;
  /**
   * Refuses writes and serves reads: as a master that became a replica and has lost its master (error
   * `READONLY`), or as one that too few replicas follow (error `NOREPLICAS`).
   */
  refuseWrites(error: 'READONLY' | 'NOREPLICAS'): Promise<void>;
  acceptWrites(): Promise<void>;
  /** Bytes it has allocated. */
  usedMemory(): Promise<number>;
  /** Ends it, and removes its folder. */
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
/** The user of {@link RedisServer.send}. */
const OWNER = 'owner';
const OWNER_PASSWORD = 'owner-of-the-test-server';
const FILE = 'redis.conf';
const START_ATTEMPTS = 3;

/** Starts it on a free port. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const folder = temporaryFolder();
  const file = join(folder.path, FILE);
  const certificates = options.tls === undefined ? undefined : createCertificates(folder.path);
  const { password = options.password, name = '' } = options.user ?? {};
  const credentials = password === undefined ? '' : `${name}:${encodeURIComponent(password)}@`;
  const scheme = certificates === undefined ? 'redis' : 'rediss';

  let { port, running } = await startOnFreePort();
  const urlAt = (at: number): string => `${scheme}://${credentials}${HOST}:${at}`;
  const files = {
    caFile: certificates?.caFile,
    client: options.tls === 'mutual' ? certificates?.client : undefined,
  };
  const access: Access = { url: urlAt(port), ...files };
  const owner: Access = {
    url: `${scheme}://${OWNER}:${OWNER_PASSWORD}@${HOST}:${port}`,
    ...files,
  };
  const send = (...command: readonly string[]): Promise<Reply> => sendOnce(owner, command);

  /** It cannot be asked which port it took, and another may have taken ours since. */
  async function startOnFreePort(): Promise<{ port: number; running: RedisProcess }> {
    for (let attempt = 1; ; attempt += 1) {
      const port = await freePort();
      const lines = [...linesOf(folder.path, port, options), ...(options.lines ?? [])];
      writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
      try {
        return { port, running: await startRedisProcess(file) };
      } catch (error) {
        const isTaken = error instanceof Error && error.message.includes('Address already in use');
        if (isTaken && attempt < START_ATTEMPTS) continue;
        folder.remove();
        throw error;
      }
    }
  }

  return {
    port,
    url: access.url,
    urlAt,
    access,
    pid: () => running.pid,
    send,
    connect: () => connectRaw(access),
    shutDown: () => running.stop(),
    kill: () => running.kill(),
    async restart() {
      await running.stop();
      // Not written anew: its own changes (REPLICAOF by a sentinel) are part of what it kept.
      running = await startRedisProcess(file);
    },
    pause: () => running.pause(),
    resume: () => running.resume(),
    async refuseWrites(error) {
      if (error === 'READONLY') await send('REPLICAOF', HOST, String(await freePort()));
      else await send('CONFIG', 'SET', 'min-replicas-to-write', '1');
    },
    async acceptWrites() {
      await send('REPLICAOF', 'NO', 'ONE');
      await send('CONFIG', 'SET', 'min-replicas-to-write', '0');
    },
    async usedMemory() {
      const info = String(await send('INFO', 'memory'));
      return Number(/^used_memory:(\d+)/m.exec(info)?.[1]);
    },
    async stop() {
      await running.kill();
      folder.remove();
    },
  };
}

function linesOf(folder: string, port: number, options: RedisOptions): readonly string[] {
  const { password, user, tls, appendOnly = false, maxMemory, replicaOf } = options;
  const { maxMemoryPolicy = 'noeviction' } = options;
  const { rules = '~* &* +@all' } = user ?? {};
  const line = (text: string, isWanted: boolean): string[] => (isWanted ? [text] : []);
  const listens =
    tls === undefined
      ? [`port ${port}`]
      : [
          'port 0',
          `tls-port ${port}`,
          `tls-ca-cert-file ${join(folder, 'authority.crt')}`,
          `tls-cert-file ${join(folder, 'server.crt')}`,
          `tls-key-file ${join(folder, 'server.key')}`,
          `tls-auth-clients ${tls === 'mutual' ? 'yes' : 'no'}`,
        ];
  return [
    ...listens,
    `bind ${HOST}`,
    `dir ${folder}`,
    'save ""',
    `appendonly ${appendOnly ? 'yes' : 'no'}`,
    `maxmemory-policy ${maxMemoryPolicy}`,
    ...line(`maxmemory ${maxMemory}`, maxMemory !== undefined),
    // A replica that has just come is served at once.
    'repl-diskless-sync-delay 0',
    ...line(`replicaof ${HOST} ${replicaOf}`, replicaOf !== undefined),
    ...line(`masterauth ${quote(password)}`, password !== undefined),
    ...line(`requirepass ${quote(password)}`, password !== undefined),
    `user ${OWNER} on >${OWNER_PASSWORD} ~* &* +@all`,
    ...line(`user ${user?.name} on ${quote(`>${user?.password}`)} ${rules}`, user !== undefined),
    ...line('user default off', user !== undefined),
  ];
}

/** As its configuration file writes a word that may hold blanks. */
function quote(word: string | undefined): string {
  return JSON.stringify(word);
}
