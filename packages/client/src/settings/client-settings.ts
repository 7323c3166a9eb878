/**
 * Settings of a client: where the platform is and how to obtain tokens.
 *
 * @module
 */

import type { ClientAuthType, ConfigProblem, Origin, SecretText } from '@sallyport/config';
import type { PlatformEndpoint } from './endpoint.ts';

/** Where the secret of an application comes from. */
export type ClientSecretSource =
  /** Read again at each use. */
  | { readonly from: 'file'; readonly path: string; readonly key: string }
  /** Given in the environment or in an API key. */
  | { readonly from: 'text'; readonly secret: SecretText };

/** How tokens are obtained. `ApiKey` comes from the environment alone, never from `admin.authType`. */
export type AuthType = ClientAuthType | 'ApiKey';

/** Settings of one client, checked, with defaults filled in. */
export interface ClientSettings {
  /** False when `union.auth.enable` is: then no token is obtained or sent. */
  readonly isEnabled: boolean;
  /** Whether they are of a block that only internal services read. Their tokens are refreshed ahead of need. */
  readonly isService: boolean;
  /** Absent only for an internal service that has token endpoint, scopes and header configured. */
  readonly endpoint: PlatformEndpoint | undefined;
  readonly authType: AuthType;
  /** Accept any certificate of the platform. The implementer of the `fetch` port MUST honour it. */
  readonly insecureSkipVerify: boolean;
  /** Certificates to trust beside the system's; empty when none. As above. */
  readonly caCertFilePath: string;
  /** Origins at which an identity provider may be reached over plain http, beyond the loopback. */
  readonly dangerouslyAllowPlainHttpTo: readonly string[];
  /** The application's; empty for people, who use the one in the platform's metadata. */
  readonly clientId: string;
  /** Present with `ClientSecret` and `ApiKey`. */
  readonly clientSecret: ClientSecretSource | undefined;
  /** Absent: that of the platform's metadata. */
  readonly scopes: readonly string[] | undefined;
  /** Empty: see {@link useAudienceFromAdmin}. */
  readonly audience: string;
  /** Whether an application asks for the audience in the platform's metadata. People always do. */
  readonly useAudienceFromAdmin: boolean;
  /** Empty: that of the platform's metadata. */
  readonly tokenUrl: string;
  /** Lower case; empty: that of the platform's metadata. */
  readonly authorizationHeader: string;
  readonly refreshWindowMs: number;
  /** Program and arguments; empty unless `ExternalCommand`. */
  readonly command: readonly string[];
  readonly serviceAccountToken: {
    readonly path: string;
    readonly use: 'Bearer' | 'ClientAssertion';
  };
  readonly disableKeyring: boolean;
  readonly pkceTimeoutMs: number;
  readonly deviceTimeoutMs: number;
}

/** Which source gave one setting, for `sallyport status`. */
export interface SettingOrigin {
  readonly origin: Origin;
  /** `flag`, the variable's name, `file:line`, or `default`. */
  readonly source: string;
}

/** Settings that can be used. */
export interface LoadedClientSettings {
  readonly settings: ClientSettings;
  /** What weakens; each is to be shown. */
  readonly warnings: readonly ConfigProblem[];
  /** By dotted key, and `apiKey`. */
  readonly origins: ReadonlyMap<string, SettingOrigin>;
}
