/**
 * The configuration as the program reads it, under the file's own key names.
 *
 * A duration's field ends in `Ms` and holds milliseconds; its key in the file does not. A text that
 * is not set is the empty string. What each key means stands in docs/configuration.md, which is made
 * from the schema.
 *
 * @module
 */

import type { BearerConfig } from './bearer-config.ts';
import type { MetricsConfig } from './metrics-config.ts';
import type { RedisConfig } from './redis-config.ts';
import type { SameSitePolicy } from './same-site.ts';
import type { SecretText } from './secret-text.ts';
import type { TracesConfig } from './traces-config.ts';

/** Everything that can be configured, checked and with defaults filled in; deeply frozen. */
export interface Config {
  /** WHATWG origin; `http:` on a loopback host only. */
  readonly publicUrl: string;
  readonly listen: { readonly host: string; readonly port: number };
  readonly stateDirectory: string;
  /** WHATWG origins, beside `publicUrl`'s own. */
  readonly redirectOrigins: readonly string[];
  /** IP addresses and CIDR ranges; `unix` is every peer of the Unix socket. */
  readonly trustedProxies: readonly string[];
  /** WHATWG origins of `http:`, none of them on the loopback. */
  readonly dangerouslyAllowPlainHttpTo: readonly string[];
  readonly server: {
    /** `unix:` and an absolute path; empty: `listen` says where. */
    readonly listen: string;
    /** Octal digits. */
    readonly socketMode: string;
    /** Name or number; empty: that of the process. */
    readonly socketGroup: string;
    /** Processes that answer; 1 is one process and no other, `auto` one for each processor. */
    readonly workers: number | 'auto';
    /** How long connections are still taken after the process was asked to end. */
    readonly drainDelayMs: number;
    readonly security: { readonly useAuth: boolean };
  };
  readonly auth: AuthConfig;
  readonly session: SessionConfig;
  readonly bearer: BearerConfig;
  readonly access: AccessConfig;
  readonly emailTrusted: boolean;
  /** Names of claims; no two of them give the same header. */
  readonly claimHeaders: readonly string[];
  /** In the spelling of `canonicalHeaderName`. */
  readonly stripHeaders: readonly string[];
  /** Doors of the server. */
  readonly doors: {
    /** How long an ended session may still be admitted by what a proxy keeps; 0: nothing is kept. */
    readonly me: { readonly verdictCacheMs: number };
  };
  readonly observe: {
    readonly logLevel: LogLevel;
    /** The part of the admissions that the log of verdicts has: 0 none, 1 every one. */
    readonly sampleSuccesses: number;
    /** `file` is empty when audit lines go where the log goes. */
    readonly audit: { readonly file: string };
    readonly metrics: MetricsConfig;
    readonly traces: TracesConfig;
  };
  readonly rateLimit: { readonly perMinute: number };
  readonly union: { readonly auth: ServiceAuthConfig };
  readonly admin: AdminClientConfig;
  readonly executions: {
    readonly app: { readonly adminClient: { readonly connection: ExecutionsConnectionConfig } };
  };
  readonly unionAuth: InjectionConfig;
  readonly secrets: SecretsConfig;
}

/** Requirement, "In-pod secret injection (executor)", and the two labels that select pods. */
export interface InjectionConfig {
  readonly injectSecret: boolean;
  /** Key in the Secret; `findApiKeySecret` finds the Secret's name. */
  readonly secretName: string;
  /** Label of the pods that get the key, with the value `true`. */
  readonly podLabel: string;
  /** Label of the namespaces whose pods may get it, with the value `true`. */
  readonly namespaceLabel: string;
}

/** Requirement, "Admin service authentication settings". */
export interface AuthConfig {
  /** Lower case. */
  readonly grpcAuthorizationHeader: string;
  /** Lower case. */
  readonly httpAuthorizationHeader: string;
  /** As written; a token may have any of `listAudienceSpellings`. */
  readonly authorizedUris: readonly string[];
  /** Whether control plane and data plane have a service app each. */
  readonly separateServiceApps: boolean;
  readonly appAuth: {
    readonly authServerType: 'External';
    readonly externalAuthServer: {
      /** Issuer of bearer tokens, byte for byte; empty only without `useAuth`. */
      readonly baseUrl: string;
      readonly allowedAudience: readonly string[];
      /** Absolute URL; empty means the IdP's own discovery document. */
      readonly metadataUrl: string;
    };
    readonly thirdPartyConfig: {
      readonly flyteClient: {
        /** Empty only without `useAuth`. */
        readonly clientId: string;
        readonly redirectUri: string;
        readonly scopes: readonly string[];
        readonly audience: string;
      };
    };
  };
  readonly userAuth: {
    readonly openId: {
      /** Issuer of the sign-in, byte for byte; empty only without `useAuth`. */
      readonly baseUrl: string;
      /** Empty only without `useAuth`. */
      readonly clientId: string;
      /** How the web app proves itself; decides which of the two files is read. */
      readonly clientAuthentication: ClientAuthenticationMethod;
      readonly clientSecretFile: string;
      /** Empty unless `clientAuthentication` is `private_key_jwt`. */
      readonly privateKeyLocation: string;
      readonly pushedAuthorization: PushedAuthorization;
      /** Holds `openid`. */
      readonly scopes: readonly string[];
    };
    readonly cookieSetting: {
      readonly sameSitePolicy: SameSitePolicy;
      /** Empty, or `publicUrl`'s host or a parent domain of it. */
      readonly domain: string;
    };
    /** Before subjects of the sign-in; that of `bearer.subjectPrefix` when both are of one issuer. */
    readonly subjectPrefix: string;
    readonly idpQueryParameter: string;
    /** Where a sign-in without a target ends: allowed by `parseRedirectTarget`. */
    readonly redirectUrl: string;
  };
}

/** OpenID Connect Core 1.0 section 9; `client_secret` is Basic or in the body, as the IdP has it. */
export type ClientAuthenticationMethod = 'client_secret' | 'private_key_jwt';

/** When the parameters of a sign-in are pushed to the IdP (RFC 9126); `auto` where it requires that. */
export type PushedAuthorization = 'auto' | 'always' | 'never';

/** How long sessions live, and where. */
export interface SessionConfig {
  readonly store: 'local' | 'redis';
  readonly idleTimeoutMs: number;
  readonly absoluteLifetimeMs: number;
  readonly withoutRefreshTokenIdleMs: number;
  readonly revalidateAfterMs: number;
  readonly renewalGraceMs: number;
  readonly renewalsPerSecond: number;
  readonly keyRingFile: string;
  readonly redis: RedisConfig;
}

/** Who of the authenticated may enter; empty lists admit every account. */
export interface AccessConfig {
  readonly tenants: readonly string[];
  readonly groups: readonly string[];
  /** Lower case. */
  readonly emailDomains: readonly string[];
  readonly clientIds: readonly string[];
  readonly tenantClaim: string;
  readonly groupsClaim: string;
}

/** Log levels, from the most to the least talkative. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** Requirement, "Service auth block". */
export interface ServiceAuthConfig {
  readonly enable: boolean;
  readonly type: 'ClientSecret';
  readonly clientId: string;
  readonly clientSecretLocation: string;
  readonly tokenUrl: string;
  /** Lower case. */
  readonly authorizationMetadataKey: string;
  readonly scopes: readonly string[];
  readonly tokenRefreshWindowMs: number;
}

/** Ways a client obtains its tokens, in the words of the file. */
export type ClientAuthType =
  | 'Pkce'
  | 'ClientSecret'
  | 'DeviceFlow'
  | 'ExternalCommand'
  | 'ServiceAccountToken';

/** Requirement, "Admin SDK client" and "Client-side configuration": one block, two places of use. */
export interface AdminClientConfig {
  readonly endpoint: string;
  readonly authType: ClientAuthType;
  readonly insecure: boolean;
  readonly insecureSkipVerify: boolean;
  readonly caCertFilePath: string;
  readonly clientId: string;
  readonly clientSecretLocation: string;
  readonly clientSecretEnvVar: string;
  /** Empty asks the platform. */
  readonly scopes: readonly string[];
  readonly useAudienceFromAdmin: boolean;
  readonly audience: string;
  readonly tokenUrl: string;
  /** Lower case; empty asks the platform. */
  readonly authorizationHeader: string;
  readonly tokenRefreshWindowMs: number;
  /** Program and arguments; no shell. */
  readonly command: readonly string[];
  readonly serviceAccountTokenLocation: string;
  readonly serviceAccountTokenUse: 'Bearer' | 'ClientAssertion';
  readonly disableKeyring: boolean;
  readonly pkceConfig: { readonly timeoutMs: number };
  readonly deviceFlowConfig: { readonly timeoutMs: number };
}

/** Requirement, "Executions service admin client connection". */
export interface ExecutionsConnectionConfig {
  /** Lower case. */
  readonly authorizationHeader: string;
  readonly clientId: string;
  readonly clientSecretLocation: string;
  readonly tokenUrl: string;
  readonly scopes: readonly string[];
}

/** Requirement, "Data plane secret mount" and "Scheduler secret mount". */
export interface SecretsConfig {
  readonly admin: {
    readonly enable: boolean;
    readonly create: boolean;
    readonly clientId: string;
    readonly clientSecret: SecretText;
  };
  readonly adminOauthClientCredentials: {
    readonly enabled: boolean;
    readonly clientSecret: SecretText;
  };
}
