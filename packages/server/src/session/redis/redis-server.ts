/**
 * The one Redis server in use: found, connected to, checked at each connection and once a second, and
 * left as soon as another is the master or its settings have changed.
 *
 * @module
 */

import type { Log } from '../../log/log.ts';
import { describeFailure } from '../../log/log.ts';
import { type RedisAccess, type RedisAddress, RedisConnection } from './redis-connection.ts';
import { storeUnavailable, toStoreFailure } from './redis-failure.ts';
import { judgeServer, readServerFacts, type ServerTraits } from './redis-server-check.ts';
import type { ServerFinder } from './redis-server-finder.ts';

/** What a connection is for: commands that are answered at once, or those that wait for something. */
export type ConnectionUse = 'commands' | 'waiting';

/** A connection that may be used, and what its server can do. */
export interface CheckedConnection {
  readonly connection: RedisConnection;
  readonly traits: ServerTraits;
  readonly use: ConnectionUse;
}

/** What {@link RedisServer} needs. */
export interface RedisServerOptions {
  readonly finder: ServerFinder;
  readonly access: RedisAccess;
  readonly deadlineMs: number;
  readonly allowWithoutAppendOnlyFile: boolean;
  readonly log: Log;
}

const LOOK_EVERY_MS = 1_000;

/** The server in use. All connections in use lead to the same one. */
export class RedisServer {
  readonly #options: RedisServerOptions;
  readonly #open = new Set<CheckedConnection>();
  /** Where the connections in use lead. */
  #address: RedisAddress | undefined;
  /** What was found last; a connection that took longer than the next search is of no use. */
  #found: RedisAddress | undefined;
  #logged: string | undefined;
  /** Whether the first attempt is over; its failure is thrown to the caller that opens the store. */
  #hasTried = false;
  #hasWarned = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: RedisServerOptions) {
    this.#options = options;
  }

  /**
   * Opens a connection to whichever server is the right one now; those to another are closed.
   *
   * @throws {SallyportError} `SP_STORE_UNAVAILABLE`, `SP_STORE_UNSUITABLE`; logged once for each cause.
   */
  async connect(use: ConnectionUse): Promise<CheckedConnection> {
    try {
      const checked = await this.#connect(use);
      this.#report(undefined);
      return checked;
    } catch (error) {
      const failure = toStoreFailure(error);
      if (this.#hasTried || failure.code !== 'SP_STORE_UNSUITABLE') this.#report(failure);
      throw failure;
    } finally {
      this.#hasTried = true;
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#options.finder.close();
    this.#leave();
  }

  async #connect(use: ConnectionUse): Promise<CheckedConnection> {
    const { access, deadlineMs } = this.#options;
    const address = await this.#find();
    const connection = await RedisConnection.open(address, access, deadlineMs);
    try {
      const checked = { connection, traits: this.#judge(await readServerFacts(connection)), use };
      if (!isSame(address, this.#found)) throw storeUnavailable('another server is the master now');
      if (!isSame(address, this.#address)) this.#leave();
      this.#address = address;
      this.#warn(checked.traits);
      this.#open.add(checked);
      void connection.closed.then(() => this.#open.delete(checked));
      if (this.#isClosed) connection.close();
      else this.#timer ??= setTimeout(() => void this.#lookAgain(), LOOK_EVERY_MS);
      return checked;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  async #find(): Promise<RedisAddress> {
    this.#found = await this.#options.finder.find();
    return this.#found;
  }

  #judge(facts: ReadonlyMap<string, string>): ServerTraits {
    return judgeServer(facts, this.#options.allowWithoutAppendOnlyFile);
  }

  /** A server says nothing when its settings change or sentinels choose another: it is asked. */
  async #lookAgain(): Promise<void> {
    try {
      await Promise.all([this.#lookAtServer(), this.#lookAtSentinels()]);
    } finally {
      this.#timer = this.#isClosed
        ? undefined
        : setTimeout(() => void this.#lookAgain(), LOOK_EVERY_MS);
    }
  }

  async #lookAtServer(): Promise<void> {
    const checked = [...this.#open].find(({ use }) => use === 'commands');
    if (checked === undefined) return;
    let facts: ReadonlyMap<string, string>;
    try {
      facts = await readServerFacts(checked.connection);
    } catch {
      // That a server does not answer is for its connections to find out.
      return;
    }
    try {
      this.#judge(facts);
    } catch (error) {
      this.#report(toStoreFailure(error));
      this.#leave();
    }
  }

  async #lookAtSentinels(): Promise<void> {
    if (!this.#options.finder.watches || this.#address === undefined) return;
    try {
      if (!isSame(await this.#find(), this.#address)) this.#leave();
    } catch {
      // Without a sentinel to ask, the server in use stays the best guess; its own role is checked.
    }
  }

  #leave(): void {
    this.#address = undefined;
    for (const { connection } of this.#open) connection.close();
  }

  #warn({ mayForget }: ServerTraits): void {
    if (!mayForget || this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.log('warn', 'session_store_without_append_only_file');
  }

  #report(failure: Error | undefined): void {
    if (this.#logged === failure?.message) return;
    const { log } = this.#options;
    if (failure === undefined) log('info', 'session_store_connected');
    else log('error', 'session_store_unusable', { failure: describeFailure(failure) });
    this.#logged = failure?.message;
  }
}

function isSame(one: RedisAddress, other: RedisAddress | undefined): boolean {
  return one.host === other?.host && one.port === other.port;
}
