/**
 * Discovery over plain HTTP: three documents, unprotected, answered from prepared bytes.
 *
 * @module
 */

import { PATHS } from '@sallyport/protocol';
import { JSON_HEADERS, toProblemJson } from '../answer/problem.ts';
import { send } from '../doors/node-http.ts';
import type { AuthorizationServerMetadata } from '../issuer/metadata/authorization-server-metadata.ts';
import type { HttpRequest, HttpResponse } from '../listener/connections.ts';
import { selectRequestId } from '../log/request-id.ts';
import { type PreparedJson, prepareJson } from './json-spelling.ts';
import type { PublicClientConfig } from './public-client-config.ts';

/** What the documents are made from. */
export interface MetadataOptions {
  /** `auth.appAuth.externalAuthServer`: where tokens for the platform come from. */
  readonly authorizationServer: AuthorizationServerMetadata;
  /** `auth.userAuth.openId`: where people sign in. */
  readonly signInServer: AuthorizationServerMetadata;
  readonly publicClient: PublicClientConfig;
}

/** Answers `true` when the request was for one of the documents. */
export type RestDoor = (req: HttpRequest, res: HttpResponse) => boolean;

/** When nothing is known yet, a client asks again so much later. */
export const METADATA_RETRY_SECONDS = 5;
const ALLOWED = 'GET, HEAD';

/**
 * Creates the door.
 *
 * `/config/v1/flyte_client` needs no identity provider. The other two are 503 with `Retry-After`
 * until the provider's document is known, and never any other error: released clients do not ask a
 * second time after one (requirement, "Endpoints", unprotected routes).
 */
export function createRestDoor(options: MetadataOptions): RestDoor {
  const { authorizationServer, signInServer, publicClient } = options;
  const client = prepareJson({
    client_id: publicClient.clientId,
    redirect_uri: publicClient.redirectUri,
    scopes: publicClient.scopes,
    authorization_metadata_key: publicClient.authorizationMetadataKey,
    service_http_endpoint: publicClient.serviceHttpEndpoint,
    audience: publicClient.audience,
  });
  const documents = new Map<string, () => PreparedJson | Promise<PreparedJson | undefined>>([
    [PATHS.clientConfig, () => client],
    [PATHS.authorizationServer, prepared(authorizationServer)],
    [PATHS.openIdConfiguration, prepared(signInServer)],
  ]);

  return function restDoor(req, res) {
    const url = req.url ?? '';
    const query = url.indexOf('?');
    const document = documents.get(query === -1 ? url : url.slice(0, query));
    if (document === undefined) return false;
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      send(res, { status: 405, headers: [['allow', ALLOWED]], body: '' });
      return true;
    }
    const found = document();
    // Neither rejects: what goes wrong at the provider is `undefined`.
    if (found instanceof Promise) void found.then((late) => write(req, res, late));
    else write(req, res, found);
    return true;
  };
}

function prepared(
  server: AuthorizationServerMetadata,
): () => PreparedJson | Promise<PreparedJson | undefined> {
  let bytes: PreparedJson | undefined;
  server.onChange((document) => {
    bytes = prepareJson(document);
  });
  return () =>
    server.current !== undefined && bytes !== undefined
      ? bytes
      : server.need().then((document) => (document === undefined ? undefined : bytes));
}

function write(req: HttpRequest, res: HttpResponse, document: PreparedJson | undefined): void {
  if (document === undefined) {
    const problem = toProblemJson({
      status: 503,
      reason: 'metadata_unavailable',
      title: 'The identity provider has not been reached yet',
      requestId: selectRequestId(req.headers['x-request-id']),
      loginUrl: '',
      retryAfterSeconds: METADATA_RETRY_SECONDS,
      bearerShown: false,
    });
    send(res, problem);
    return;
  }
  const isSnakeCase = req.headers.accept === 'application/json';
  // Node leaves the body out of the answer to HEAD by itself.
  send(res, {
    status: 200,
    headers: [...JSON_HEADERS, ['content-type', 'application/json'], ['vary', 'Accept']],
    body: isSnakeCase ? document.snakeCase : document.bothCases,
  });
}
