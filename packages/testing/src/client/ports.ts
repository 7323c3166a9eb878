/**
 * Ports of the grants for tests: a clock that stands still until something waits.
 *
 * @module
 */

import type { ConfigProblem } from '@sallyport/config';
import type {
  InteractivePorts,
  SecretPorts,
  SignInPrompt,
} from '../../../client/src/grants/ports.ts';
import type { PlatformMetadata } from '../../../client/src/platform-metadata.ts';

/** Ports that record their calls. */
export interface TestPorts extends InteractivePorts, SecretPorts {
  readonly prompts: SignInPrompt[];
  readonly warnings: ConfigProblem[];
  /** Milliseconds of each waiting that came to its end. */
  readonly waits: number[];
  advance(ms: number): void;
}

/** Where the clock of tests begins. */
export const START = 1_800_000_000_000;

/**
 * Creates ports.
 *
 * @param isTimeEndless - Waiting never comes to its end by itself; without, the clock jumps at once.
 */
export function createTestPorts({
  isTimeEndless = false,
}: {
  readonly isTimeEndless?: boolean;
} = {}): TestPorts {
  let time = START;
  const prompts: SignInPrompt[] = [];
  const warnings: ConfigProblem[] = [];
  const waits: number[] = [];
  return {
    fetch,
    now: () => time,
    prompts,
    warnings,
    waits,
    advance(ms) {
      time += ms;
    },
    show: (prompt) => void prompts.push(prompt),
    onWarning: (warning) => void warnings.push(warning),
    async wait(ms, signal) {
      signal.throwIfAborted();
      if (!isTimeEndless) {
        time += ms;
        waits.push(ms);
        return;
      }
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    },
  };
}

/** Metadata of a platform whose identity provider is at `origin`. */
export function metadataOf(
  origin: string,
  changes: Partial<PlatformMetadata> = {},
): PlatformMetadata {
  return {
    issuer: origin,
    isIssuerNamed: false,
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    deviceAuthorizationEndpoint: `${origin}/device`,
    revocationEndpoint: `${origin}/revoke`,
    codeChallengeMethods: ['S256'],
    clientId: 'native',
    redirectUri: 'http://localhost:53593/callback',
    scopes: ['all'],
    audience: '',
    authorizationHeader: 'core-authorization',
    ...changes,
  };
}

/** An unsigned JWT with these claims. */
export function createJwt(claims: object): string {
  const encode = (value: object): string =>
    Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${encode({ alg: 'RS256' })}.${encode(claims)}.c2ln`;
}
