/**
 * Bodies of requests, bounded each and together.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import type { HttpRequest } from '@sallyport/server/listener';

/** Why there is no body. */
export type BodyRefusal = 'too_large' | 'too_many' | 'broken_off';

/** Kubernetes takes objects of up to 3 MiB; a review holds the object, and things of about its size around it. */
const BODY_MAX_BYTES = 8_388_608;
/** Of all requests together, while they are read. */
const TOGETHER_MAX_BYTES = 67_108_864;

/**
 * Creates the reader. How long a body may take is the listener's to limit.
 *
 * @returns The body as UTF-8.
 */
export function createBodyReader(
  bodyMaxBytes: number = BODY_MAX_BYTES,
  togetherMaxBytes: number = TOGETHER_MAX_BYTES,
): (req: HttpRequest) => Promise<Result<string, BodyRefusal>> {
  let together = 0;
  return async (req) => {
    if (Number(req.headers['content-length'] ?? 0) > bodyMaxBytes) return refuse('too_large');
    const pieces: Buffer[] = [];
    let length = 0;
    try {
      // What refuses the rest of a body has still to answer on its connection.
      for await (const piece of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        length += piece.length;
        together += piece.length;
        if (length > bodyMaxBytes) return refuse('too_large');
        if (together > togetherMaxBytes) return refuse('too_many');
        pieces.push(piece);
      }
      return accept(Buffer.concat(pieces).toString('utf8'));
    } catch {
      return refuse('broken_off');
    } finally {
      together -= length;
    }
  };
}
