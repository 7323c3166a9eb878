/**
 * A place where the agent answers: one port or socket for HTTP/1.1 and HTTP/2 without TLS.
 *
 * @module
 */

import {
  createHttp1Listener,
  createHttp2Listener,
  DEFAULT_TIMEOUTS,
  type Exchange,
  type GatewayTimeouts,
} from '@sallyport/gateway/listeners';
import { createOnePort } from '@sallyport/server/listener';

/** An open door. */
export interface Door {
  /** 0 on a Unix socket. */
  readonly port: number;
  /** Takes nothing new, gives requests under way a moment, and closes. */
  close(): Promise<void>;
}

/** Where a door is. */
export type DoorPlace =
  | { readonly path: string }
  | { readonly host: string; readonly port: number };

/** Programs of one machine; further connections make way, those first that rest. */
const CONNECTIONS_MAX = 256;
/** Shorter than a supervisor waits before it kills. */
const DRAIN_MS = 3_000;
const TIMEOUTS: GatewayTimeouts = {
  ...DEFAULT_TIMEOUTS,
  firstBytesMs: 5_000,
  headersMs: 5_000,
  drainMs: DRAIN_MS,
};

/**
 * Opens a door.
 *
 * @param answer - Takes every request to its end. Never throws.
 * @throws {SallyportError} `SP_PORT_IN_USE`, `SP_LISTEN_FAILED`.
 */
export async function openDoor(
  place: DoorPlace,
  answer: (exchange: Exchange) => void,
): Promise<Door> {
  const listening = { timeouts: TIMEOUTS, routeRequest: answer };
  const http1 = createHttp1Listener(listening);
  const http2 = createHttp2Listener(listening);
  const port = createOnePort({
    firstBytesMs: TIMEOUTS.firstBytesMs,
    connectionsMax: CONNECTIONS_MAX,
    accept(socket, protocol) {
      if (protocol === 'tls') socket.destroy();
      else (protocol === 'h2c' ? http2 : http1).accept(socket);
    },
  });
  const end = (): void => {
    http1.close();
    http2.close();
  };
  try {
    if ('path' in place) {
      await port.listenAt(place.path);
      return { port: 0, close };
    }
    const keys = { host: '--listen', port: '--listen' };
    return { port: await port.listen(place.port, place.host, keys), close };
  } catch (cause) {
    end();
    throw cause;
  }

  async function close(): Promise<void> {
    port.stopListening();
    http1.drain();
    http2.drain();
    const timer = setTimeout(() => port.destroyAll(), DRAIN_MS);
    await port.allClosed();
    clearTimeout(timer);
    end();
  }
}
