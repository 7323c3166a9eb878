/**
 * Client authentication as released clients send it, turned into what the provider expects.
 *
 * - Go clients authenticate a public client first with a Basic header whose password is empty. The
 *   provider would refuse it; here it means the same as `client_id` in the body, so no code is lost.
 * - Some clients put their identifier into the header without percent-encoding it, against RFC 6749
 *   section 2.3.1. A registered identifier is recognised in both spellings.
 *
 * @module
 */

import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { accept, type Result } from '@sallyport/protocol';
import type { IdpClientIds } from '../spec/idp-spec.ts';
import { type FormRefusal, isFormRequest, readForm } from './form-body.ts';

const FORM_BYTES_MAX = 56 * 1_024;
const BASIC = /^basic ([A-Za-z0-9+/]+={0,2})$/i;

/**
 * Normalises the client authentication of one request.
 *
 * Verifies nothing: a wrong secret stays wrong.
 *
 * @returns The request to go on with: the given one, or a copy whose body names the public client.
 *   Refused only when the body of such a request is too large.
 */
export async function admitBasicVariants(
  request: IncomingMessage,
  clientIds: IdpClientIds,
): Promise<Result<IncomingMessage, FormRefusal>> {
  const credentials = request.method === 'POST' ? readBasic(request) : undefined;
  if (credentials === undefined) return accept(request);

  const { id, password } = credentials;
  const clientId = [id, formDecode(id)].find((spelling) =>
    Object.values(clientIds).includes(spelling),
  );
  if (clientId === undefined) return accept(request);
  if (clientId === clientIds.native && password === '' && isFormRequest(request))
    return nameInBody(request, clientId);

  const basic = Buffer.from(`${encodeURIComponent(clientId)}:${password}`).toString('base64');
  request.headers.authorization = `Basic ${basic}`;
  return accept(request);
}

function readBasic(
  request: IncomingMessage,
): { readonly id: string; readonly password: string } | undefined {
  const encoded = BASIC.exec(request.headers.authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? undefined : { id: text.slice(0, colon), password: text.slice(colon + 1) };
}

function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

async function nameInBody(
  request: IncomingMessage,
  clientId: string,
): Promise<Result<IncomingMessage, FormRefusal>> {
  const form = await readForm(request, FORM_BYTES_MAX);
  if (!form.ok) return form;
  if (!form.value.has('client_id')) form.value.set('client_id', clientId);
  const body = Buffer.from(form.value.toString());
  const { authorization: _, ...headers } = request.headers;

  const copy = Object.assign(Readable.from([body], { objectMode: false }), {
    method: request.method,
    url: request.url,
    headers: { ...headers, 'content-length': String(body.length) },
    httpVersion: request.httpVersion,
    httpVersionMajor: request.httpVersionMajor,
    httpVersionMinor: request.httpVersionMinor,
    socket: request.socket,
  });
  return accept(copy as unknown as IncomingMessage);
}
