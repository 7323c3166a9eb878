/**
 * What values mean together.
 *
 * @module
 */

import type { Config } from '../config.ts';
import type { Origin } from '../resolve-settings.ts';

/** What a rule may look at. */
interface RuleContext {
  readonly config: Config;
  readonly originOf: (key: string) => Origin;
  /** Whether the file or a flag gives anything within a block. */
  readonly isGiven: (block: string) => boolean;
}

/** One contradiction, reported at the key to correct. */
export interface Finding {
  readonly key: string;
  readonly found: string;
  readonly expected: string;
  /** A warning does not keep the configuration from being used. */
  readonly isWarning?: true;
}

/** One rule; it is skipped while a value it looks at is wrong by itself. */
export interface Rule {
  readonly keys: readonly string[];
  readonly check: (context: RuleContext) => readonly Finding[];
}
