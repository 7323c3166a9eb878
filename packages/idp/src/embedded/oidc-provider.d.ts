/**
 * The part of `oidc-provider` 9 that this package uses; the library publishes no types.
 *
 * The deep paths are on purpose: the library's entry point prints a warning on every Node release
 * that is not marked LTS, and nothing of this product may write to the terminal unasked. The
 * version is pinned exactly, so a moved file is a failed test and not a surprise.
 */

declare module 'oidc-provider/lib/provider.js' {
  type IncomingMessage = import('node:http').IncomingMessage;
  type ServerResponse = import('node:http').ServerResponse;
  type Prompt = import('oidc-provider/lib/helpers/interaction_policy/index.js').Prompt;

  export interface Client {
    readonly clientId: string;
    readonly clientName?: string;
    readonly clientAuthMethod: string;
    compareClientSecret(secret: string): boolean;
    readonly redirectUris: readonly string[];
    readonly postLogoutRedirectUris?: readonly string[];
    readonly backchannelLogoutUri?: string;
    /** Notifies the application; rejects when that fails. */
    backchannelLogout(subject: string, sid: string | undefined): Promise<void>;
    readonly grantTypes: readonly string[];
    /** Scopes it is registered for, separated by blanks. */
    readonly scope?: string;
    grantTypeAllowed(grantType: string): boolean;
  }

  export interface Grant {
    readonly accountId: string;
    readonly clientId: string;
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }

  export interface Session {
    readonly accountId?: string;
    /** Absent until the session was saved once. */
    readonly exp?: number;
    /** Whether it has to be saved again. */
    touched?: boolean;
    readonly authorizations?: Readonly<
      Record<string, { readonly grantId?: string; readonly persistsLogout?: boolean }>
    >;
    readonly state?: {
      readonly secret: string;
      readonly state?: string;
      readonly postLogoutRedirectUri?: string;
    };
    grantIdFor(clientId: string): string | undefined;
    sidFor(clientId: string): string | undefined;
    destroy(): Promise<void>;
  }

  export interface Account {
    readonly accountId: string;
    claims(): Readonly<Record<string, unknown>>;
  }

  export interface Token {
    readonly accountId?: string;
    readonly clientId: string;
  }

  export interface OidcContext {
    readonly provider: Provider;
    readonly route: string;
    readonly client?: Client;
    readonly account?: Account;
    readonly session: Session;
    readonly body?: Readonly<Record<string, unknown>>;
    readonly params?: Record<string, string | undefined>;
    readonly requestParamScopes: ReadonlySet<string>;
    readonly entities: {
      readonly PushedAuthorizationRequest?: object;
      readonly IdTokenHint?: { readonly payload: { readonly sub?: string } };
    };
    urlFor(route: string): string;
  }

  /** Koa's context, with `oidc` on routes of the provider. */
  export interface Context {
    readonly req: IncomingMessage;
    readonly res: ServerResponse;
    readonly method: string;
    readonly path: string;
    readonly query: Readonly<Record<string, string | readonly string[] | undefined>>;
    readonly cookies: {
      set(name: string, value: null, options: Readonly<Record<string, unknown>>): void;
    };
    type: string;
    status: number;
    body: unknown;
    set(name: string, value: string): void;
    redirect(url: string): void;
  }

  export interface RouteContext extends Context {
    readonly oidc: OidcContext;
  }

  export interface Interaction {
    readonly uid: string;
    readonly params: Readonly<Record<string, unknown>>;
    readonly prompt: { readonly name: string };
  }

  interface GrantMembers {
    revokeByGrantId(grantId: string): Promise<void>;
  }

  export class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    readonly Client: {
      find(clientId: string): Promise<Client | undefined>;
      readonly prototype: {
        redirectUriAllowed(this: Client, uri: string): boolean;
        postLogoutRedirectUriAllowed(this: Client, uri: string): boolean;
        grantTypeAllowed(this: Client, grantType: string): boolean;
        compareClientSecret: (this: Client, secret: string) => boolean;
      };
    };
    readonly Grant: {
      new (properties: { readonly accountId: string; readonly clientId: string }): Grant;
      find(id: string): Promise<Grant | undefined>;
      readonly adapter: { destroy(id: string): Promise<void> };
    };
    readonly AccessToken: GrantMembers;
    readonly AuthorizationCode: GrantMembers;
    readonly RefreshToken: GrantMembers;
    readonly DeviceCode: GrantMembers;
    use(
      middleware: (context: Context | RouteContext, next: () => Promise<void>) => Promise<void>,
    ): this;
    on(event: string, listener: (...values: never[]) => void): this;
    emit(event: string, ...values: unknown[]): boolean;
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    cookieName(type: 'session' | 'interaction' | 'resume'): string;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionResult(
      request: IncomingMessage,
      response: ServerResponse,
      result: Readonly<Record<string, unknown>>,
      options: { readonly mergeWithLastSubmission: boolean },
    ): Promise<string>;
  }

  export type { Prompt };
}

declare module 'oidc-provider/lib/helpers/interaction_policy/index.js' {
  export class Prompt {
    constructor(options: { readonly name: string; readonly requestable: boolean });
    readonly checks: { clear(): void };
  }

  export interface Policy extends Array<Prompt> {
    get(name: string): Prompt | undefined;
    add(prompt: Prompt, index?: number): void;
  }

  export function base(): Policy;
}

declare module 'oidc-provider/lib/helpers/errors.js' {
  export class OIDCProviderError extends Error {
    readonly error_description?: string;
    readonly error_detail?: string;
  }
  export class SessionNotFound extends OIDCProviderError {}
  export class InvalidRequest extends OIDCProviderError {
    constructor(description: string);
  }
  export class InvalidTarget extends OIDCProviderError {}
}
