/**
 * Raw commands for tests, with the client that the product uses too.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { createClient } from '@redis/client';
import type { KeyPairFiles } from './certificates.ts';

/** How to reach a server. */
export interface Access {
  /** `redis://user:password@host:port`, or `rediss://` for TLS. */
  readonly url: string;
  readonly caFile?: string | undefined;
  readonly client?: KeyPairFiles | undefined;
}

/** A connected client; it does not connect again by itself. */
export type RawClient = ReturnType<typeof createClient>;

/** An answer with RESP 2 or 3 types as they are. */
export type Reply = string | number | null | readonly Reply[];

/** Connects; rejects when that is not possible. */
export async function connectRaw({ url, caFile, client }: Access): Promise<RawClient> {
  const once = { reconnectStrategy: false, connectTimeout: 5_000 } as const;
  const tls = {
    tls: true,
    ...(caFile === undefined ? {} : { ca: readFileSync(caFile) }),
    ...(client === undefined
      ? {}
      : { cert: readFileSync(client.certFile), key: readFileSync(client.keyFile) }),
  } as const;
  const isTls = url.startsWith('rediss:');
  const raw = createClient({ url, RESP: 2, socket: isTls ? { ...once, ...tls } : once });
  // A lost connection shows in what is sent next.
  raw.on('error', () => undefined);
  await raw.connect();
  return raw as unknown as RawClient;
}

/** Sends one command over a connection of its own. */
export async function sendOnce(access: Access, command: readonly string[]): Promise<Reply> {
  const raw = await connectRaw(access);
  try {
    return (await raw.sendCommand([...command])) as unknown as Reply;
  } finally {
    raw.destroy();
  }
}
