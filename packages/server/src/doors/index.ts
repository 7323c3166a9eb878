/**
 * The doors that translate a verdict for a proxy.
 *
 * @module
 */

export { createMeDoor, type Door, type MeDoorOptions } from './me.ts';
