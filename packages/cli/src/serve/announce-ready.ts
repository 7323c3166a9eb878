/**
 * The line that says where requests are answered.
 *
 * @module
 */

import type { Stdio } from '../stdio.ts';

/** Writes `ready <url>`. */
export function announceReady(host: string, port: number, stdio: Stdio): void {
  stdio.out(`ready http://${host.includes(':') ? `[${host}]` : host}:${port}`);
}
