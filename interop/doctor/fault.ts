/**
 * A fault that is put into a running plane, and the cause that the doctor has to name first.
 *
 * @module
 */

import type { CauseCode } from '@sallyport/doctor';
import type { Asked, FaultyPlane, Handler } from './faulty-plane.ts';

/** What the fault is put into. */
export type Ground =
  /** The embedded identity provider, `sallyport serve` and an ingress of the test. */
  | 'running plane'
  /** As above, with an endpoint of the identity provider that answers as another one publishes. */
  | 'fake endpoint'
  /** The files that the doctor reads. */
  | 'files'
  /** Objects of Kubernetes, as a cluster has them. */
  | 'manifests';

/** One fault. */
export interface Fault {
  /** What is put into the plane; unique. */
  readonly fault: string;
  /** The first finding. */
  readonly cause: CauseCode;
  /** The probe that finds it, where the cause has several places. */
  readonly probe?: string;
  readonly ground: Ground;
  readonly make: (plane: FaultyPlane) => Asked | Promise<Asked>;
}

type Members = Readonly<Record<string, unknown>>;

/** Settings of the sign-in. */
export function openId(members: Members): Members {
  return { auth: { userAuth: { openId: members } } };
}

/** Settings of an internal service. */
export function service(members: Members): Members {
  return { union: { auth: members } };
}

/** The service's secret as the text of a file. */
export function withSecretText(
  text: (plane: FaultyPlane) => string | Buffer,
): (plane: FaultyPlane) => Asked {
  return (plane) => ({
    config: service({ clientSecretLocation: plane.write('client_secret', text(plane)) }),
  });
}

/** At the ingress, by path. */
export function atFront(path: string, handler: (plane: FaultyPlane) => Handler): Fault['make'] {
  return (plane) => {
    plane.front.set(path, handler(plane));
    return {};
  };
}

/** Every place of the metadata for clients. */
export const METADATA_PATHS = [
  '/flyteidl2.auth.AuthMetadataService/GetPublicClientConfig',
  '/flyteidl2.auth.AuthMetadataService/GetOAuth2Metadata',
  '/flyteidl.service.AuthMetadataService/GetPublicClientConfig',
  '/flyteidl.service.AuthMetadataService/GetOAuth2Metadata',
  '/.well-known/oauth-authorization-server',
  '/config/v1/flyte_client',
] as const;

/** Where a token is obtained at the embedded identity provider. */
export const TOKEN_PATH = '/idp/token';

/** An nginx that is well, as a file: a check, whose verdicts are kept by a key of maps. */
const HONEST_NGINX = `
map "$http_core_authorization" $bearer { default $http_core_authorization; "" $http_cookie; }
proxy_cache_path cache keys_zone=verdicts:1m;
server {
  server_name platform.example;
  proxy_buffer_size 16k;
  location = /check {
    internal;
    proxy_cache verdicts;
    proxy_cache_key "$host $bearer";
    proxy_pass http://admin/me;
  }
  location = /login { proxy_pass http://admin; }
  location ^~ /callback { proxy_pass http://admin; }
  location / { auth_request /check; proxy_pass http://console; }
}
`;

/** That file, changed; as it is with the identity. */
export function withNginx(change: (text: string) => string): Fault['make'] {
  return (plane) => ({ nginx: plane.write('nginx.conf', change(HONEST_NGINX)) });
}
