/**
 * Why a port cannot be listened on, in words for the operator.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';

/** The settings of host and port; an error message begins with the one to correct. */
export interface ListenKeys {
  readonly host?: string;
  readonly port?: string;
}

/** Where it was to be listened. */
export type ListenPlace =
  | { readonly host: string; readonly port: number }
  | { readonly path: string };

/** Ports below are reserved for the system, unless it is configured otherwise. */
const UNPRIVILEGED_FROM = 1_024;
const OTHER_HOST = 'use 127.0.0.1, or 0.0.0.0 for every address';

/**
 * Translates what `listen` failed with.
 *
 * @returns `SP_PORT_IN_USE` or `SP_LISTEN_FAILED`; what is no failure of the system, as it is.
 */
export function listenFailure(cause: unknown, place: ListenPlace, keys: ListenKeys = {}): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (typeof code !== 'string' || !/^E[A-Z]/.test(code) || code.startsWith('ERR_')) return cause;
  if ('path' in place)
    return new SallyportError('SP_LISTEN_FAILED', {
      component: `unix:${place.path}`,
      detail: `cannot be listened on: the system says ${code}`,
      cause,
    });
  const { host, port } = place;
  const component = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const failed = (key: string | undefined, said: string) =>
    new SallyportError('SP_LISTEN_FAILED', { component, detail: about(key, said), cause });
  switch (code) {
    case 'EADDRINUSE':
      return new SallyportError('SP_PORT_IN_USE', {
        component,
        detail: about(
          keys.port,
          `port ${port} is taken by another program; stop it, or choose another one`,
        ),
        cause,
      });
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
      return failed(keys.host, `this machine has no address ${host}; ${OTHER_HOST}`);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return failed(keys.host, `no address is known for the name ${host}; ${OTHER_HOST}`);
    case 'EACCES':
    case 'EPERM': {
      const remedy =
        port < UNPRIVILEGED_FROM
          ? `choose one above ${UNPRIVILEGED_FROM - 1}`
          : 'choose another one, or allow it';
      return failed(keys.port, `this user may not listen on port ${port}; ${remedy}`);
    }
    default:
      return failed(keys.port, `cannot be listened on: the system says ${code}`);
  }
}

function about(key: string | undefined, said: string): string {
  return key === undefined ? said : `${key}: ${said}`;
}
