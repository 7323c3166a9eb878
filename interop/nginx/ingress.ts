/**
 * nginx as ingress-nginx would configure it.
 *
 * @module
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { exchange, type Received, type Sent } from '../../conformance/wire/exchange.ts';
import { type Answer, type Backend, startBackend } from './backend.ts';
import { createPrefix, startNginx } from './nginx.ts';

/** nginx as ingress-nginx configures it for the requirement's annotations, its cache of verdicts included. */
export interface Ingress {
  readonly url: string;
  readonly check: Backend;
  readonly backend: Backend;
  ask(sent?: Sent): Promise<Received>;
  /** How many verdicts lie in the cache. */
  kept(): number;
  stop(): Promise<void>;
}

/** A cache of verdicts, for `http {}`. */
export const CACHE: string =
  'proxy_cache_path cache levels=1:2 keys_zone=auth_cache:1m inactive=30m use_temp_path=off;';

/** The two values of the annotation `auth-cache-key`, as the requirement has them. */
const CACHE_KEYS = {
  http: '$http_core_authorization$http_cookie',
  grpc: '$http_authorization$http_core_authorization$http_cookie',
} as const;

/**
 * Starts it.
 *
 * @param answer - Answers the check.
 * @param grpc - Address of a gRPC backend: the ingress is then one of a gRPC route group, over HTTP/2.
 */
export async function startIngress(answer: Answer, port: number, grpc?: string): Promise<Ingress> {
  const prefix = createPrefix();
  const [check, backend] = await Promise.all([startBackend(answer), startBackend()]);
  const nginx = await startNginx(
    prefix,
    `${CACHE}
    server {
      listen 127.0.0.1:${port}${grpc === undefined ? '' : ' http2'};
      location = /_external-auth {
        internal;
        proxy_cache auth_cache;
        proxy_cache_key ${CACHE_KEYS[grpc === undefined ? 'http' : 'grpc']};
        proxy_cache_valid 200 202 401 5m;
        proxy_pass_request_body off;
        proxy_set_header Content-Length "";
        proxy_set_header X-Forwarded-Proto "";
        proxy_set_header Host $host;
        proxy_set_header X-Original-URL $scheme://$http_host$request_uri;
        proxy_set_header X-Original-Method $request_method;
        proxy_set_header X-Auth-Request-Redirect $request_uri;
        proxy_set_header X-Sent-From nginx-ingress-controller;
        proxy_set_header X-Real-IP $remote_addr;
        proxy_pass ${check.url}/me;
      }
      location / {
        auth_request /_external-auth;
        auth_request_set $auth_cookie $upstream_http_set_cookie;
        auth_request_set $auth_cache $upstream_cache_status;
        add_header Set-Cookie $auth_cookie;
        add_header X-Verdict $auth_cache always;
        ${grpc === undefined ? `proxy_pass ${backend.url};` : `grpc_pass grpc://${grpc};`}
      }
    }`,
  );
  const url = `http://localhost:${port}`;
  return {
    url,
    check,
    backend,
    ask: (sent) => exchange(`${url}/org`, sent),
    kept: () =>
      readdirSync(join(prefix.path, 'cache'), { recursive: true, withFileTypes: true }).filter(
        (entry) => entry.isFile(),
      ).length,
    async stop() {
      await nginx.stop();
      await Promise.all([check.close(), backend.close()]);
      prefix.remove();
    },
  };
}
