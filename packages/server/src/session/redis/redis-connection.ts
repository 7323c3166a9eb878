/**
 * One connection to one Redis server: every command answered or given up within a deadline.
 *
 * The library brings the protocol, TLS and the handshake, and is loaded when the first connection is
 * made. Reconnecting and finding the server are not left to it: a command must never wait for a
 * server, or be sent again behind its caller's back, and each new connection is checked before it is
 * used.
 *
 * @module
 */

import type { RedisClient } from '@redis/client';
import { isFromChangedServer, storeUnavailable, toStoreFailure } from './redis-failure.ts';
import type { RedisReply } from './redis-reply.ts';

/** A server's host and port. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** How to get in; read again for every connection, so that changed files are followed. */
export interface RedisAccess {
  /** Empty for the server's default user. */
  readonly username: string;
  /** Empty for none. Never kept. */
  readonly password: () => string;
  /** PEM texts; `undefined` for plain TCP. */
  readonly tls: (() => RedisTls) | undefined;
  /** Number of the database; 0 is every server's first. */
  readonly database: number;
}

/** What TLS needs beside the address. */
export interface RedisTls {
  /** Authorities to believe instead of the system's. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The name in the server's certificate, when it is not the host's. */
  readonly servername?: string;
}

/** A command and its arguments. */
export type RedisCommand = readonly (string | number | Buffer)[];

type Client = ReturnType<ReturnType<typeof RedisClient.factory>>;

/** RESP 2 needs no handshake command that a narrow rule of rights would have to name. */
const PROTOCOL = { RESP: 2 } as const;

/** An open connection. */
export class RedisConnection {
  readonly address: RedisAddress;
  /** Resolves when it is closed, for whatever reason. */
  readonly closed: Promise<void>;
  readonly #client: Client;
  readonly #deadlineMs: number;
  readonly #replyAsBytes: Record<number, typeof Buffer>;
  #isClosed = false;
  #noteClosed: () => void;
  #givingUp: NodeJS.Timeout | undefined;

  private constructor(
    client: Client,
    address: RedisAddress,
    deadlineMs: number,
    bulkString: number,
  ) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#client = client;
    this.address = address;
    this.#deadlineMs = deadlineMs;
    this.#replyAsBytes = { [bulkString]: Buffer };
    this.closed = promise;
    this.#noteClosed = resolve;
    client.on('error', () => this.close());
    client.on('end', () => this.close());
  }

  /**
   * Connects, authenticates and selects the database; says nothing yet about the server.
   *
   * @param deadlineMs - For each command, and for connecting as a whole.
   * @throws {SallyportError} `SP_STORE_UNAVAILABLE`.
   */
  static async open(
    address: RedisAddress,
    access: RedisAccess,
    deadlineMs: number,
  ): Promise<RedisConnection> {
    const { RedisClient, RESP_TYPES } = await import('@redis/client');
    const { username, database } = access;
    const password = access.password();
    // The same settings for every client, or the library makes all its commands anew for each.
    const create = RedisClient.factory(PROTOCOL);
    const client = create({
      ...PROTOCOL,
      socket: {
        ...address,
        ...(access.tls === undefined ? {} : { tls: true as const, ...access.tls() }),
        connectTimeout: deadlineMs,
        reconnectStrategy: false,
      },
      ...(username === '' ? {} : { username }),
      ...(password === '' ? {} : { password }),
      database,
      disableOfflineQueue: true,
      disableClientInfo: true,
      maintNotifications: 'disabled',
      // The library's own bounds only commands that were not sent yet.
      commandOptions: { timeout: 0 },
    }) as unknown as Client;
    const connection = new RedisConnection(client, address, deadlineMs, RESP_TYPES.BLOB_STRING);
    const connecting = client.connect();
    // A socket that opens after it was given up on would stay open for ever.
    connecting.then(
      () => connection.#isClosed && client.destroy(),
      () => {},
    );
    try {
      await connection.#withinDeadline(connecting, deadlineMs);
      return connection;
    } catch (error) {
      connection.close();
      throw toStoreFailure(error);
    }
  }

  /**
   * Sends a command.
   *
   * Given up, it may still reach the server or have reached it. A late reply to a read is dropped. A
   * write that is carried out after all does no harm: no browser was given what it creates, and everything else
   * it can do is to end a session, to note a use that there was, or to finish a renewal whose
   * outcome its caller has to look up anyway.
   *
   * @throws {SallyportError} `SP_STORE_UNAVAILABLE`, or the library's error of a server's refusal.
   */
  async send(command: RedisCommand, deadlineMs: number = this.#deadlineMs): Promise<RedisReply> {
    if (this.#isClosed) throw storeUnavailable('the connection is closed');
    const words = command.map((word) => (typeof word === 'number' ? String(word) : word));
    const reply = this.#client.sendCommand<RedisReply>(words, { typeMapping: this.#replyAsBytes });
    reply.then(this.#noteReply, this.#noteReply);
    try {
      return await this.#withinDeadline(reply, deadlineMs);
    } catch (error) {
      if (isFromChangedServer(error)) this.close();
      throw error;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#givingUp);
    this.#client.destroy();
    this.#noteClosed();
  }

  async #withinDeadline<T>(work: Promise<T>, deadlineMs: number): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.#giveUpSoon();
      reject(storeUnavailable('the server did not answer in time'));
    }, deadlineMs);
    try {
      return await Promise.race([work, promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Without any reply for a second deadline the connection is taken for dead. */
  #giveUpSoon(): void {
    this.#givingUp ??= setTimeout(() => this.close(), this.#deadlineMs);
  }

  readonly #noteReply = (): void => {
    clearTimeout(this.#givingUp);
    this.#givingUp = undefined;
  };
}
