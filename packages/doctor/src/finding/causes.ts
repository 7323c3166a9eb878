/**
 * Every cause that the doctor names. docs/doctor.md is made from it.
 *
 * @module
 */

import type { ProbeGroup } from '../graph/probe.ts';
import { CONFIGURATION_CAUSES } from './configuration-causes.ts';
import { GRANT_CAUSES } from './grant-causes.ts';
import { INJECTION_CAUSES } from './injection-causes.ts';
import { NETWORK_CAUSES } from './network-causes.ts';
import { PLATFORM_CAUSES } from './platform-causes.ts';
import { SECRET_CAUSES } from './secret-causes.ts';
import { VERSION_CAUSES } from './version-causes.ts';

/** What a cause is, whatever values are at fault. */
export interface Cause {
  /** Where it is found. */
  readonly group: ProbeGroup;
  /** What one sees when it is there. */
  readonly seen: string;
  /** How the doctor finds it. */
  readonly found: string;
  /** What to do. */
  readonly cure: string;
}

/** The name of a cause: stable, never used again for another. */
export type CauseCode =
  | keyof typeof CONFIGURATION_CAUSES
  | keyof typeof SECRET_CAUSES
  | keyof typeof NETWORK_CAUSES
  | keyof typeof PLATFORM_CAUSES
  | keyof typeof GRANT_CAUSES
  | keyof typeof INJECTION_CAUSES
  | keyof typeof VERSION_CAUSES;

/** Every cause by its name. */
export const CAUSES: Readonly<Record<CauseCode, Cause>> = {
  ...CONFIGURATION_CAUSES,
  ...SECRET_CAUSES,
  ...NETWORK_CAUSES,
  ...PLATFORM_CAUSES,
  ...GRANT_CAUSES,
  ...INJECTION_CAUSES,
  ...VERSION_CAUSES,
};
