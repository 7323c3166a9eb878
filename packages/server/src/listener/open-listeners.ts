/**
 * Listeners as values: all of a process open and close together.
 *
 * @module
 */

import {
  type HttpHandler,
  type HttpListener,
  type ListenOptions,
  listenOnOnePort,
} from './http-service.ts';

/** One listener: what it serves, and where. */
export interface Listener extends ListenOptions {
  readonly handler: HttpHandler;
}

/** Listeners that are open, by their names. */
export interface OpenListeners<Name extends string> {
  /** 0 on a Unix socket. */
  readonly ports: Readonly<Record<Name, number>>;
  /** Closes all at once, see {@link HttpListener.close}; resolves when the last is closed. */
  close(): Promise<void>;
}

/**
 * Opens listeners in their order. Where one cannot be opened, those before it are closed again.
 *
 * @throws {SallyportError} `SP_PORT_IN_USE` when a port is taken, `SP_LISTEN_FAILED` when it cannot be had.
 */
export async function openListeners<Name extends string>(
  listeners: Readonly<Record<Name, Listener>>,
): Promise<OpenListeners<Name>> {
  const opened = new Map<string, HttpListener>();
  const close = async () => {
    await Promise.all([...opened.values()].map((listener) => listener.close()));
  };
  try {
    for (const [name, { handler, ...options }] of Object.entries<Listener>(listeners))
      opened.set(name, await listenOnOnePort(handler, options));
  } catch (cause) {
    await close();
    throw cause;
  }
  const ports = Object.fromEntries([...opened].map(([name, { port }]) => [name, port]));
  return { ports: ports as Record<Name, number>, close };
}
