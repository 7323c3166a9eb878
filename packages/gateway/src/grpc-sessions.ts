/**
 * HTTP/2 connections to gRPC backends.
 *
 * @module
 */

import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import type { ConnectionOptions } from 'node:tls';

/** Opens streams, on connections shared by all callers of a backend. */
export interface GrpcSessions {
  /**
   * Opens one call. Does not wait for the connection: its failure shows as `error` of the stream.
   *
   * @param headers - Flat, pseudo-headers first.
   */
  open(origin: string, headers: readonly string[]): ClientHttp2Stream;
  destroy(): void;
}

/** One connection and how many calls it carries. */
interface Entry {
  readonly session: ClientHttp2Session;
  open: number;
}

/** What a server that has not sent SETTINGS yet is believed to take, RFC 9113 section 6.5.2. */
const STREAMS_BEFORE_SETTINGS = 100;
const SESSION_MEMORY_MEGABYTES = 128;
/** Options that Node understands in a client and its types do not list. */
const UNTYPED_OPTIONS = {
  /** A caller's repeated header is passed on as it is. */
  strictSingleValueFields: false,
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
};

/**
 * Creates an empty set. A connection takes as many calls as its server allows, then another is opened,
 * because long streams would otherwise keep short calls waiting.
 *
 * @param tls - For origins with the scheme https.
 */
export function createGrpcSessions(connectMs: number, tls: ConnectionOptions = {}): GrpcSessions {
  const entriesByOrigin = new Map<string, Entry[]>();

  return {
    open(origin, headers) {
      const entries = entriesByOrigin.get(origin) ?? [];
      entriesByOrigin.set(origin, entries);
      let entry = entries.find(hasRoom);
      if (entry === undefined) {
        entry = { session: dial(origin, connectMs, tls), open: 0 };
        entries.push(entry);
        const added = entry;
        const forget = () => {
          const index = entries.indexOf(added);
          if (index !== -1) entries.splice(index, 1);
        };
        entry.session.once('close', forget);
        entry.session.once('goaway', forget);
      }
      return call(entry, headers);
    },
    destroy() {
      for (const entries of entriesByOrigin.values())
        for (const { session } of entries) session.destroy();
    },
  };
}

function call(entry: Entry, headers: readonly string[]): ClientHttp2Stream {
  const stream = entry.session.request([...headers], { endStream: false });
  entry.open += 1;
  stream.once('close', () => {
    entry.open -= 1;
  });
  return stream;
}

function hasRoom({ session, open }: Entry): boolean {
  if (session.closed || session.destroyed) return false;
  const limit = session.connecting
    ? STREAMS_BEFORE_SETTINGS
    : (session.remoteSettings.maxConcurrentStreams ?? STREAMS_BEFORE_SETTINGS);
  return open < limit;
}

function dial(origin: string, connectMs: number, tls: ConnectionOptions): ClientHttp2Session {
  const session = connect(origin, {
    ...tls,
    maxSessionMemory: SESSION_MEMORY_MEGABYTES,
    settings: { enablePush: false },
    ...UNTYPED_OPTIONS,
  });
  const timer = setTimeout(() => session.destroy(), connectMs);
  session.once('connect', () => clearTimeout(timer));
  session.once('close', () => clearTimeout(timer));
  // Each call on it learns of the failure through its own stream.
  session.on('error', ignore);
  return session;
}

function ignore(): void {}
