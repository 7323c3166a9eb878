/**
 * Every fault that is put into a running plane. docs/doctor.md shows this table, so that what ran on a fake alone is
 * said there.
 *
 * @module
 */

import type { Fault } from './fault.ts';
import { CLUSTER_FAULTS } from './faults/cluster.ts';
import { CONFIGURATION_FAULTS } from './faults/configuration.ts';
import { GATE_FAULTS } from './faults/gate.ts';
import { GRANTS_FAULTS } from './faults/grants.ts';
import { HEADERS_FAULTS } from './faults/headers.ts';
import { INJECTION_FAULTS } from './faults/injection.ts';
import { METADATA_FAULTS } from './faults/metadata.ts';
import { NETWORK_FAULTS } from './faults/network.ts';
import { PROXY_FAULTS } from './faults/proxy.ts';
import { SECRETS_FAULTS } from './faults/secrets.ts';
import { VERSION_FAULTS } from './faults/versions.ts';

/** Every fault, in the order of the table. */
export const FAULTS: readonly Fault[] = [
  ...CONFIGURATION_FAULTS,
  ...NETWORK_FAULTS,
  ...GATE_FAULTS,
  ...METADATA_FAULTS,
  ...HEADERS_FAULTS,
  ...PROXY_FAULTS,
  ...SECRETS_FAULTS,
  ...GRANTS_FAULTS,
  ...CLUSTER_FAULTS,
  ...INJECTION_FAULTS,
  ...VERSION_FAULTS,
];
