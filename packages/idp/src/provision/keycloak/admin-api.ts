/**
 * The admin REST interface of a Keycloak.
 *
 * @module
 */

import { setTimeout as pauseFor } from 'node:timers/promises';
import { SallyportError, withoutUnprintable } from '@sallyport/protocol';
import {
  type ExchangeLimits,
  exchangeJson,
  type JsonAnswer,
  membersOf,
  OversizedAnswer,
} from '../../exchange/exchange-json.ts';
import { describeLack, roleFor } from './admin-roles.ts';

/** Who administrates. Secrets: never print the value as a whole. */
export type KeycloakAdminCredentials =
  | { readonly kind: 'user'; readonly username: string; readonly password: string }
  | { readonly kind: 'client'; readonly clientId: string; readonly clientSecret: string };

/** Where the interface is, and what admits to it. */
export interface KeycloakAdminOptions {
  /** Address of the Keycloak, without `/realms/NAME` and without a slash at its end. */
  readonly url: string;
  /** Realm that the administrator is of. */
  readonly adminRealm: string;
  readonly credentials: KeycloakAdminCredentials;
  readonly fetch: typeof fetch;
  /** Current time in epoch milliseconds. */
  readonly now?: () => number;
  /** Resolves after so many milliseconds. */
  readonly pause?: (ms: number) => Promise<void>;
}

/** Requests below `/admin/realms`. A path is made by {@link pathOf}. Each throws as {@link createKeycloakAdmin} says. */
export interface KeycloakAdmin {
  /** Realm that the administrator is of. */
  readonly adminRealm: string;
  /** @returns The answer's JSON; undefined where there is no such object. */
  get(path: string): Promise<unknown>;
  post(path: string, body: object): Promise<void>;
  put(path: string, body?: object): Promise<void>;
  /** Succeeds where there is no such object, too. */
  remove(path: string): Promise<void>;
}

/** A page of a hundred clients with many mappers each is a tenth of the size. */
const LIMITS: ExchangeLimits = { timeoutMs: 20_000, bodyMaxBytes: 16_777_216 };
/** To make a realm takes a slow Keycloak half a minute. */
const REALM_LIMITS: ExchangeLimits = { ...LIMITS, timeoutMs: 60_000 };
/** Administrators' tokens live for a minute unless the realm says otherwise. */
const TOKEN_USE_MS = 30_000;
/** Half of each second that a token says it lives. */
const HALF_SECOND_MS = 500;
const TEXT_MAX = 200;
const NOT_FOUND = 404;
const CONFLICT = 409;
const SERVER_ERRORS_FROM = 500;
/** Milliseconds before a request is sent again that changes nothing more the second time. */
const PAUSES_MS = [500, 2_000];

/**
 * Joins a path of its segments, each encoded.
 *
 * @throws {SallyportError} `SP_IDP_PROTOCOL` for a segment that would lead to another object: an empty one, or dots alone.
 */
export function pathOf(...segments: readonly string[]): string {
  if (segments.some((segment) => /^\.{0,2}$/.test(segment)))
    throw new SallyportError('SP_IDP_PROTOCOL', {
      component: 'keycloak',
      detail: 'the admin interface named an object by an identifier that cannot stand in a path',
    });
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

/**
 * Creates the interface. Sends nothing yet.
 *
 * Its functions throw {@link SallyportError}: `SP_IDP_UNREACHABLE` when the Keycloak does not answer, or a proxy in its place (502 to 504),
 * `SP_CONFIG_INVALID` when it refuses the administrator or what the administrator may do, `SP_IDP_PROTOCOL` when it
 * answers anything else that is unexpected, or more than 16 MiB. No message holds a secret, or anything of an answer but
 * Keycloak's own words for a refusal. A redirect is not followed. A request other than POST that the server fails to
 * answer (5xx: a deadlock of its database, a replica that stops behind a load balancer) is sent up to twice more.
 */
export function createKeycloakAdmin(options: KeycloakAdminOptions): KeycloakAdmin {
  const { url, adminRealm, credentials, now = Date.now, pause = pauseFor } = options;
  let token: { readonly value: string; readonly until: number } | undefined;

  async function send(
    what: string,
    address: string,
    init: RequestInit,
    limits = LIMITS,
  ): Promise<JsonAnswer> {
    try {
      return await exchangeJson(options.fetch, address, init, limits);
    } catch (cause) {
      if (cause instanceof OversizedAnswer)
        throw new SallyportError('SP_IDP_PROTOCOL', {
          component: 'keycloak',
          detail: `${what} answered with ${cause.message}`,
        });
      throw new SallyportError('SP_IDP_UNREACHABLE', {
        component: 'keycloak',
        detail: `${url} does not answer`,
        cause,
      });
    }
  }

  async function authorize(): Promise<string> {
    if (token !== undefined && now() < token.until) return token.value;
    const address = `${url}${pathOf('realms', adminRealm)}/protocol/openid-connect/token`;
    const body = new URLSearchParams(formOf(credentials));
    const { status, json } = await send(address, address, { method: 'POST', body });
    const { access_token: value, expires_in: lifetime } = membersOf(json);
    if (status !== 200 || typeof value !== 'string')
      throw new SallyportError(
        status === 401 || status === 400 ? 'SP_CONFIG_INVALID' : 'SP_IDP_PROTOCOL',
        {
          component: 'keycloak',
          detail: `${address} answered ${status} to the administrator${describe(json)}${toAdvice(status)}`,
        },
      );
    const halfMs = typeof lifetime === 'number' ? lifetime * HALF_SECOND_MS : TOKEN_USE_MS;
    token = { value, until: now() + Math.min(TOKEN_USE_MS, halfMs) };
    return value;
  }

  async function ask(method: string, path: string, body?: object): Promise<JsonAnswer> {
    const what = `${method} /admin/realms${path}`;
    const sendOnce = async () => {
      const headers = {
        authorization: `Bearer ${await authorize()}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      return send(what, `${url}/admin/realms${path}`, init, path === '' ? REALM_LIMITS : LIMITS);
    };
    let answer = await sendOnce();
    for (const ms of method === 'POST' ? [] : PAUSES_MS) {
      if (answer.status < SERVER_ERRORS_FROM) break;
      await pause(ms);
      answer = await sendOnce();
    }
    const { status, json } = answer;
    if ((status >= 200 && status < 300) || status === NOT_FOUND) return answer;
    const lack = status === 403 ? describeLack(roleFor(method, path), path, adminRealm) : undefined;
    const why = status === CONFLICT ? '; something made it meanwhile: run the command again' : '';
    // Behind a proxy that gave up, Keycloak may still do what was asked.
    const isOpen = status > SERVER_ERRORS_FROM;
    const code = isOpen ? 'SP_IDP_UNREACHABLE' : 'SP_IDP_PROTOCOL';
    throw new SallyportError(lack === undefined ? code : 'SP_CONFIG_INVALID', {
      component: 'keycloak',
      detail:
        lack === undefined
          ? `${what} answered ${status}${describe(json)}${why}`
          : `${lack}; ${what} is refused`,
    });
  }

  async function changeWhatIsThere(method: string, path: string, body?: object): Promise<void> {
    const { status } = await ask(method, path, body);
    if (status !== NOT_FOUND) return;
    throw new SallyportError('SP_IDP_PROTOCOL', {
      component: 'keycloak',
      detail: `${method} /admin/realms${path} answered 404: it was removed meanwhile`,
    });
  }

  return {
    adminRealm,
    async get(path) {
      const { status, json } = await ask('GET', path);
      if (status === NOT_FOUND) return undefined;
      if (json !== undefined) return json;
      throw new SallyportError('SP_IDP_PROTOCOL', {
        component: 'keycloak',
        detail: `GET /admin/realms${path} answered with something that is no JSON`,
      });
    },
    async post(path, body) {
      await changeWhatIsThere('POST', path, body);
      // Who makes a realm gets its roles, and a service account's roles stand in its token.
      if (path === '') token = undefined;
    },
    put: (path, body) => changeWhatIsThere('PUT', path, body),
    async remove(path) {
      await ask('DELETE', path);
    },
  };
}

function formOf(credentials: KeycloakAdminCredentials): Record<string, string> {
  return credentials.kind === 'user'
    ? {
        grant_type: 'password',
        client_id: 'admin-cli',
        username: credentials.username,
        password: credentials.password,
      }
    : {
        grant_type: 'client_credentials',
        client_id: credentials.clientId,
        client_secret: credentials.clientSecret,
      };
}

/** What to look at after a refusal of the administrator; after a failure of the server nothing. */
function toAdvice(status: number): string {
  if (status === NOT_FOUND) return "; compare the administrator's realm, and the address";
  return status === 401 || status === 400
    ? "; compare the administrator's name, password or secret, and realm"
    : '';
}

/** Keycloak's own words, which repeat names and never a secret. */
function describe(json: unknown): string {
  const body = membersOf(json);
  const words = ['error', 'error_description', 'errorMessage'].flatMap((name) => {
    const text = body[name];
    return typeof text === 'string' ? [withoutUnprintable(text).slice(0, TEXT_MAX)] : [];
  });
  return words.length === 0 ? '' : `: ${words.join(', ')}`;
}
