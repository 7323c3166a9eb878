/**
 * Bodies of requests, bounded each and together.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import type { HttpRequest } from '@sallyport/server/listener';

/** Why there is no body. */
export type BodyRefusal = 'too_large' | 'too_many' | 'broken_off';

/** A review of a new pod holds one object, of an update two; etcd takes 1.5 MiB for each. */
const BODY_MAX_BYTES = 4_194_304;
/** Of all requests together, while they are read: what the charts give the process has room for it, and for one that is parsed. */
const TOGETHER_MAX_BYTES = 16_777_216;

/**
 * Creates the reader. How long a body may take is the listener's to limit. What is refused is read to its end and thrown away: a
 * client that is still sending may not see an answer.
 *
 * @returns The bytes.
 */
export function createBodyReader(
  bodyMaxBytes: number = BODY_MAX_BYTES,
  togetherMaxBytes: number = TOGETHER_MAX_BYTES,
): (req: HttpRequest) => Promise<Result<Buffer, BodyRefusal>> {
  let together = 0;
  return async (req) => {
    let pieces: Buffer[] = [];
    let length = 0;
    let refusal: BodyRefusal | undefined;
    try {
      for await (const piece of req as AsyncIterable<Buffer>) {
        if (refusal !== undefined) continue;
        if (length + piece.length > bodyMaxBytes) refusal = 'too_large';
        else if (together + piece.length > togetherMaxBytes) refusal = 'too_many';
        if (refusal !== undefined) {
          together -= length;
          [pieces, length] = [[], 0];
          continue;
        }
        length += piece.length;
        together += piece.length;
        pieces.push(piece);
      }
      return refusal === undefined ? accept(Buffer.concat(pieces, length)) : refuse(refusal);
    } catch {
      return refuse('broken_off');
    } finally {
      together -= length;
    }
  };
}
