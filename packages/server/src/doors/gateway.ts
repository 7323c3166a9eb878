/**
 * The door of the embedded gateway: the verdict in process, shaped for the caller of the original request.
 *
 * @module
 */

import type { Answer } from '../answer/answer.ts';
import { classifyCaller } from '../answer/caller.ts';
import { shapeAnswer } from '../answer/shape-answer.ts';
import type { CheckRequest } from '../verdict/check-request.ts';
import type { Verdict } from '../verdict/verdict.ts';
import type { DoorOptions } from './door-options.ts';

/** One request as the embedded gateway asks about it. */
export interface GateRequest extends CheckRequest {
  /** Path and query of the original request. */
  readonly target: string;
  readonly requestId: string;
}

/** Synchronous where the verdict is remembered. Neither throws nor rejects. */
export type GatewayHandler = (request: GateRequest) => Answer | Promise<Answer>;

/** The embedded gateway; the values it needs come with each request. */
export const gatewayDoor = {
  name: 'gateway',
  handler({ check, publicOrigin }: DoorOptions): GatewayHandler {
    return function answer(request) {
      const verdict = check(request);
      return verdict instanceof Promise
        ? verdict.then((decided) => shape(decided, request))
        : shape(verdict, request);
    };

    function shape(verdict: Verdict, request: GateRequest): Answer {
      const { headers, target, requestId } = request;
      const caller = { kind: classifyCaller(request), accept: headers.accept, target, requestId };
      return shapeAnswer(verdict, caller, publicOrigin);
    }
  },
} as const;
