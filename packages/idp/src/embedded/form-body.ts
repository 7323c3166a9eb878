/**
 * Reads a form out of a request.
 *
 * @module
 */

import type { IncomingMessage } from 'node:http';
import { accept, type Result, refuse } from '@sallyport/protocol';

/** Why a request holds no readable form. */
export type FormRefusal =
  | { readonly reason: 'form_wrong_type' }
  | { readonly reason: 'form_too_large' };

/** Whether the request says that its body is a URL-encoded form. */
export function isFormRequest(request: IncomingMessage): boolean {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  return type.trim().toLowerCase() === 'application/x-www-form-urlencoded';
}

/**
 * Reads a whole URL-encoded form. The body of the request is used up.
 *
 * @param bytesMax - Longest body to read; the rest of a longer one is not waited for.
 */
export async function readForm(
  request: IncomingMessage,
  bytesMax: number,
): Promise<Result<URLSearchParams, FormRefusal>> {
  if (!isFormRequest(request)) return refuse({ reason: 'form_wrong_type' });
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The socket has to stay open for the answer, so leaving the loop must not destroy the request.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const buffer = chunk as Buffer;
    bytes += buffer.length;
    if (bytes > bytesMax) return refuse({ reason: 'form_too_large' });
    chunks.push(buffer);
  }
  return accept(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
}
