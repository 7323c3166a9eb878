/**
 * What the commands need of a platform; made by `create-platform.ts` from the client library.
 *
 * @module
 */

import type {
  Client,
  GrantKind,
  PlatformMetadata,
  TokenKey,
  TokenSet,
  TokenStore,
} from '@sallyport/client';
import type { PersonalFlow } from '../profile/cached-login.ts';
import type { SelectedProfile } from '../profile/profile.ts';
import type { Environment } from '../profile/sources.ts';
import type { PersonGrants } from './sign-in.ts';

/** One setting, as `status` shows it. Never a secret. */
export interface ShownSetting {
  readonly key: string;
  readonly value: string;
  /** `flag`, `variable NAME`, `file:line` or `default`. */
  readonly origin: string;
}

/** A platform's metadata, and what follows from it. */
export interface DiscoveredPlatform {
  /** Obtains tokens without a person: from the store, by refresh, or as an application. */
  readonly client: Client;
  readonly key: TokenKey;
  /** Header the token is sent in; lower case. */
  readonly header: string;
  /** Absent for an application: it may need none. */
  readonly metadata: PlatformMetadata | undefined;
  /** How the person signed in the last time, where a command has noted it. */
  readonly flow?: PersonalFlow | undefined;
}

/** A profile's platform. Nothing is asked or read before a function is called. */
export interface Platform {
  readonly profile: SelectedProfile;
  /** Origin. */
  readonly endpoint: string;
  readonly environment: Environment;
  /** How its settings say tokens are obtained. */
  readonly grantKind: GrantKind;
  /** Whether a person has to act for tokens of this kind. */
  readonly isPersonal: boolean;
  /** Command line that signs a person in to it, with the options of this command. */
  readonly loginCommand: string;
  readonly settings: readonly ShownSetting[];
  /** What weakens the settings; each one sentence. */
  readonly warnings: readonly string[];
  /**
   * Reads the platform's metadata.
   *
   * @throws {SallyportError} When it cannot be reached, or answers wrongly.
   */
  discover(signal: AbortSignal): Promise<DiscoveredPlatform>;
  /** What was discovered the last time, without a request; it may be out of date. */
  readCachedLogin(): Promise<DiscoveredPlatform | undefined>;
  openStore(): Promise<TokenStore>;
  /**
   * Finds out whether tokens can be kept, before a person is asked for them. A keyring is not asked.
   *
   * @throws {SallyportError} `SP_TOKEN_STORE_UNUSABLE` when their folder cannot be used; `SP_TOKEN_LOCK_TIMEOUT`.
   */
  prepareToKeep(discovered: DiscoveredPlatform, signal: AbortSignal): Promise<void>;
  /** Keeps tokens, and says where they went. */
  keep(
    discovered: DiscoveredPlatform,
    tokens: TokenSet,
    say: (sentence: string) => void,
  ): Promise<void>;
  /** Removes the tokens, which are given back for their revocation. */
  forget(discovered: DiscoveredPlatform, signal: AbortSignal): Promise<TokenSet | undefined>;
  /**
   * Lets the next command find its token without a request.
   *
   * @param names - Of commands beside this one that are to find it too.
   * @param flow - How the person has just signed in; else what was noted before stays.
   */
  writeCachedLogin(
    discovered: DiscoveredPlatform,
    names: readonly string[],
    flow?: PersonalFlow,
  ): Promise<void>;
  /** What a person can sign in with. */
  grantsOf(discovered: DiscoveredPlatform): PersonGrants;
}
