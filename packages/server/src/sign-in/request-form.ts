/**
 * Reads a form that another server posts.
 *
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { accept, type Result, refuse } from '@sallyport/protocol';

/** Why a request holds no readable form. Stable: a field of the log. */
export type FormProblem = 'content_type' | 'body_too_large' | 'body_incomplete';

const FORM_TYPE = 'application/x-www-form-urlencoded';

/**
 * Reads a whole URL-encoded form. Repeated fields are left to the caller.
 *
 * How long it may take is the listener's to limit: it ends a connection whose request does not end.
 *
 * @param body - Used up, but not to its end when it is too long. Never destroyed: the connection has to
 *   stay open for the answer.
 */
export async function readForm(
  headers: IncomingHttpHeaders,
  body: Readable,
  maxBytes: number,
): Promise<Result<URLSearchParams, FormProblem>> {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== FORM_TYPE) return refuse('content_type');
  if (Number(headers['content-length'] ?? 0) > maxBytes) return refuse('body_too_large');
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.byteLength;
      if (size > maxBytes) return refuse('body_too_large');
      chunks.push(chunk);
    }
  } catch {
    // The client has gone, or was too slow for the listener.
    return refuse('body_incomplete');
  }
  return accept(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
}
