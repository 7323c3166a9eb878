/**
 * A span for each request to an identity provider that a traced request waits for.
 *
 * @module
 */

import type { SpanDescription, Tracer } from '../../trace/tracer.ts';
import { classifyIdpOperation } from '../metrics/metrics-idp-calls.ts';

const SERVER_ERROR = 500;

/**
 * Stands in front of a fetch.
 *
 * The trace context is not sent to the provider. A span holds the kind of the request, its method, the provider's host and the
 * status of the answer: no path, no query, no body.
 * The span ends when the head of the answer is there.
 *
 * @param metadataUrls - Configured places of metadata, as `classifyIdpOperation` needs them.
 * @param tracer - Absent where nothing is traced: the very same fetch is returned.
 *
 * @see [Semantic conventions for HTTP spans](https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client-span)
 */
export function traceFetch(
  fetch: typeof globalThis.fetch,
  metadataUrls: readonly string[],
  tracer: Tracer | undefined,
): typeof globalThis.fetch {
  if (tracer === undefined) return fetch;
  const isMetadata = (url: string) => metadataUrls.includes(url);
  return (input, init) => {
    // Most requests are made ahead of need, in the background, and belong to no trace.
    if (tracer.current() === undefined) return fetch(input, init);
    const address = input instanceof Request ? input.url : String(input);
    return tracer.call(describe(address, init, isMetadata), async (span) => {
      const response = await fetch(input, init);
      span?.set({ 'http.response.status_code': response.status });
      if (response.status >= SERVER_ERROR) span?.fail(String(response.status));
      return response;
    });
  };
}

function describe(
  address: string,
  init: RequestInit | undefined,
  isMetadata: (url: string) => boolean,
): SpanDescription {
  const operation = classifyIdpOperation(address, init, isMetadata);
  const { protocol, hostname, port } = new URL(address);
  return {
    name: `idp ${operation}`,
    attributes: {
      'sallyport.operation': operation,
      'http.request.method': init?.method ?? 'GET',
      'server.address': hostname,
      'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    },
  };
}
