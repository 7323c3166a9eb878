/**
 * A door of HTTP: one file in this folder, and one line in the list `http-doors.ts`.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { HttpRequest, HttpResponse } from '../listener/connections.ts';
import type { Check } from '../verdict/check.ts';

/**
 * Anything that asks for verdicts. Its name is the label `door` of metrics, spans and log lines: lower case, digits and
 * `_`, and no other door's.
 */
export interface NamedDoor {
  readonly name: string;
}

/**
 * Opens the check for one door: its verdicts are counted, logged and traced under the door's name.
 *
 * @throws {TypeError} When the name is malformed, or another door's.
 */
export type Ask = (door: NamedDoor) => Check;

/** A door of HTTP. */
export interface HttpDoor extends NamedDoor {
  /**
   * Whether the door decides by the client's address, which an ingress forwards. Such a door cannot be opened while
   * `trustedProxies` is empty: every client would have the ingress's address.
   */
  readonly needsForwardedHeaders?: boolean;
  /** Makes the handler, once for each configuration. */
  readonly handler: (parts: DoorParts) => DoorHandler;
}

/** What the handler of a door is made from. */
export interface DoorParts {
  /** The verdict, asked as this door. It neither throws nor rejects; synchronous where the verdict is remembered. */
  readonly check: Check;
  /** Origin of `publicUrl`: where `/login` is; never taken from a request. */
  readonly publicOrigin: string;
  /** The client's address, as the configured proxies forward it; without them that of the connection. */
  readonly addressOf: (request: HttpRequest) => string;
  /** `doors.<name>` of the configuration. */
  readonly settings: DoorSettings;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** `doors` of the configuration. */
export interface DoorSettings {
  readonly me: { readonly verdictCacheMs: number };
}

/** Answers a request and returns `true`, or leaves it to the next door and returns `false`. */
export type DoorHandler = (req: HttpRequest, res: HttpResponse) => boolean;

/**
 * Refuses doors that would take every client for the ingress.
 *
 * @throws {SallyportError} `SP_CONFIG_INVALID` when a door needs forwarded headers and no proxy is trusted.
 */
export function requireTrustedProxies(
  doors: readonly HttpDoor[],
  trustedProxies: readonly string[],
): void {
  if (trustedProxies.length > 0) return;
  const door = doors.find(({ needsForwardedHeaders }) => needsForwardedHeaders === true);
  if (door !== undefined)
    throw new SallyportError('SP_CONFIG_INVALID', {
      component: 'doors',
      detail: `trustedProxies is empty, and the door ${door.name} needs what an ingress forwards`,
    });
}

/** Makes the handlers of all doors, in their order. */
export function openDoors(
  doors: readonly HttpDoor[],
  ask: Ask,
  parts: Omit<DoorParts, 'check'>,
): readonly DoorHandler[] {
  return doors.map((door) => door.handler({ ...parts, check: ask(door) }));
}
