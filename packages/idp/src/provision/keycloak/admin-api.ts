/**
 * The admin REST interface of a Keycloak.
 *
 * @module
 */

import { SallyportError, withoutUnprintable } from '@sallyport/protocol';

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
}

/** Requests below `/admin/realms`. A path is made by {@link pathOf}. Each throws as {@link createKeycloakAdmin} says. */
export interface KeycloakAdmin {
  /** @returns The answer's JSON; undefined where there is no such object. */
  get(path: string): Promise<unknown>;
  post(path: string, body: object): Promise<void>;
  put(path: string, body?: object): Promise<void>;
  /** Succeeds where there is no such object, too. */
  remove(path: string): Promise<void>;
}

const TIMEOUT_MS = 20_000;
/** Administrators' tokens live for a minute unless the realm says otherwise. */
const TOKEN_USE_MS = 30_000;
const TEXT_MAX = 200;

/** Joins a path of its segments, each encoded. */
export function pathOf(...segments: readonly string[]): string {
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
}

/**
 * Creates the interface. Sends nothing yet.
 *
 * Its functions throw {@link SallyportError}: `SP_IDP_UNREACHABLE` when the Keycloak does not answer,
 * `SP_CONFIG_INVALID` when it refuses the administrator or what the administrator may do, `SP_IDP_PROTOCOL` when it
 * answers anything else that is unexpected. No message holds a secret.
 */
export function createKeycloakAdmin(options: KeycloakAdminOptions): KeycloakAdmin {
  const { url, adminRealm, credentials, now = Date.now } = options;
  let token: { readonly value: string; readonly until: number } | undefined;

  async function send(address: string, init: RequestInit): Promise<Response> {
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      return await options.fetch(address, { ...init, redirect: 'manual', signal });
    } catch (cause) {
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
    const response = await send(address, {
      method: 'POST',
      body: new URLSearchParams(formOf(credentials)),
    });
    const body = await readJson(response);
    const value = body?.['access_token'];
    if (response.status !== 200 || typeof value !== 'string')
      throw new SallyportError(
        response.status === 401 || response.status === 400
          ? 'SP_CONFIG_INVALID'
          : 'SP_IDP_PROTOCOL',
        {
          component: 'keycloak',
          detail: `${address} answered ${response.status} to the administrator${describe(body)}`,
        },
      );
    token = { value, until: now() + TOKEN_USE_MS };
    return value;
  }

  async function ask(method: string, path: string, body?: object): Promise<Response> {
    const response = await send(`${url}/admin/realms${path}`, {
      method,
      headers: {
        authorization: `Bearer ${await authorize()}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.ok || response.status === 404) return response;
    const answer = await readJson(response);
    throw new SallyportError(response.status === 403 ? 'SP_CONFIG_INVALID' : 'SP_IDP_PROTOCOL', {
      component: 'keycloak',
      detail:
        response.status === 403
          ? `the administrator may not ${method} /admin/realms${path}; it needs the roles manage-clients and view-realm of realm-management, and manage-realm for what is the realm's`
          : `${method} /admin/realms${path} answered ${response.status}${describe(answer)}`,
    });
  }

  async function change(method: string, path: string, body?: object): Promise<number> {
    const response = await ask(method, path, body);
    await response.body?.cancel();
    return response.status;
  }

  async function changeWhatIsThere(method: string, path: string, body?: object): Promise<void> {
    if ((await change(method, path, body)) !== 404) return;
    throw new SallyportError('SP_IDP_PROTOCOL', {
      component: 'keycloak',
      detail: `${method} /admin/realms${path} answered 404: it was removed meanwhile`,
    });
  }

  return {
    async get(path) {
      const response = await ask('GET', path);
      if (response.status === 404) {
        await response.body?.cancel();
        return undefined;
      }
      return response.json();
    },
    post: (path, body) => changeWhatIsThere('POST', path, body),
    put: (path, body) => changeWhatIsThere('PUT', path, body),
    async remove(path) {
      await change('DELETE', path);
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

async function readJson(
  response: Response,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const body: unknown = await response.json();
    return typeof body === 'object' && body !== null
      ? (body as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Keycloak's own words, which repeat names and never a secret. */
function describe(body: Readonly<Record<string, unknown>> | undefined): string {
  const words = ['error', 'error_description', 'errorMessage'].flatMap((name) => {
    const text = body?.[name];
    return typeof text === 'string' ? [withoutUnprintable(text).slice(0, TEXT_MAX)] : [];
  });
  return words.length === 0 ? '' : `: ${words.join(', ')}`;
}
