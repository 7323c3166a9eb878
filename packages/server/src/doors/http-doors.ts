/**
 * The doors of HTTP, in the order in which they are tried. A further one is a line here.
 *
 * @module
 */

import type { HttpDoor } from './door.ts';
import { meDoor } from './me.ts';

/** All of them. */
export const HTTP_DOORS: readonly HttpDoor[] = [meDoor];
