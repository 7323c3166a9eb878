/**
 * The line that says where requests are answered.
 *
 * @module
 */

import type { ListenConfig } from '@sallyport/config';
import type { Stdio } from '../terminal/stdio.ts';

/** Where a service listens: an address, or `unix:` and a path. */
export function placeOf({ listen, server }: ListenConfig, port: number): string {
  const { host } = listen;
  if (server.listen !== '') return server.listen;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Writes `ready <place>`. */
export function announceReady(place: string, stdio: Stdio): void {
  stdio.out(`ready ${place}`);
}
