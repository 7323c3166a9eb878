/**
 * The doors that translate a verdict for a proxy.
 *
 * @module
 */

export { answerByVerdict, type DoorAnswer, type OriginalRequest } from './answer-by-verdict.ts';
export type { Ask, DoorHandler, DoorParts, DoorSettings, HttpDoor, NamedDoor } from './door.ts';
export type { GateRequest, GatewayHandler } from './gateway.ts';
export { HTTP_DOORS } from './http-doors.ts';
