/**
 * The order of the files of a test run: random by the run's seed, with the long ones at the front.
 *
 * A long file that begins last runs alone at the end, while the other workers have nothing to do.
 *
 * @module
 */

import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take more than ten seconds on a busy machine, their imports and hooks included. */
export const LONG_FILES: readonly string[] = [
  'conformance/cli/agent.test.ts',
  'conformance/cli/sessions-revoke.test.ts',
  'conformance/cli/terminal.test.ts',
  'conformance/cookies.test.ts',
  'conformance/metadata/outage.test.ts',
  'conformance/observe/audit.test.ts',
  'conformance/observe/metrics-port.test.ts',
  'conformance/observe/metrics-workers.test.ts',
  'conformance/observe/trace-export.test.ts',
  'conformance/observe/traces.test.ts',
  'conformance/operation/rolling-restart.test.ts',
  'conformance/operation/stopping.test.ts',
  'conformance/operation/store-upkeep.test.ts',
  'conformance/platform/platform.test.ts',
  'conformance/sessions/frozen-idp.test.ts',
  'conformance/sessions/three-processes.test.ts',
  'conformance/sessions/three-workers.test.ts',
  'conformance/sign-in/backchannel-logout.test.ts',
  'conformance/sign-in/certified-provider.test.ts',
  'conformance/sign-in/client-authentication.test.ts',
  'conformance/sign-in/id-token.test.ts',
  'conformance/sign-in/redirect-target.test.ts',
  'conformance/store.test.ts',
  'conformance/tokens/introspection.test.ts',
  'conformance/wire/moved-clock.test.ts',
  'conformance/workers-start.test.ts',
  'conformance/workers.test.ts',
  'interop/chromium/account.test.ts',
  'interop/chromium/command-sign-in.test.ts',
  'interop/chromium/pages.test.ts',
  'interop/chromium/popup.test.ts',
  'interop/chromium/sign-in.test.ts',
  'interop/chromium/sign-out.test.ts',
  'interop/chromium/tabs.test.ts',
  'interop/clients/internal-services.test.ts',
  'interop/cluster/chart-install.test.ts',
  'interop/cluster/chart.test.ts',
  'interop/cluster/doctor-injection.test.ts',
  'interop/cluster/ingress.test.ts',
  'interop/cluster/inject-command.test.ts',
  'interop/cluster/injection-outage.test.ts',
  'interop/cluster/key-ring.test.ts',
  'interop/cluster/kubernetes-page.test.ts',
  'interop/doctor/fault-matrix.test.ts',
  'interop/doctor/pairs.test.ts',
  'interop/doctor/platform.test.ts',
  'interop/doctor/untrusted-answers.test.ts',
  'interop/image/image.test.ts',
  'interop/keycloak/api-keys.test.ts',
  'interop/keycloak/doctor.test.ts',
  'interop/keycloak/getting-started.test.ts',
  'interop/keycloak/idp-administrators.test.ts',
  'interop/keycloak/idp-basic-scope.test.ts',
  'interop/keycloak/idp-commands.test.ts',
  'interop/keycloak/idp-interruptions.test.ts',
  'interop/keycloak/idp-questions.test.ts',
  'interop/keycloak/platform.test.ts',
  'interop/load/bench.test.ts',
  'interop/nginx/kept-verdicts.test.ts',
  'interop/nginx/site.test.ts',
  'interop/package/bundle-files.test.ts',
  'interop/package/empty-machine.test.ts',
  'interop/package/install.test.ts',
  'interop/package/libraries.test.ts',
  'interop/package/tarballs.test.ts',
  'interop/prometheus/monitoring.test.ts',
  'interop/python/agent.test.ts',
  'interop/python/released-clients.test.ts',
  'interop/redis/cluster.test.ts',
  'interop/redis/sentinel.test.ts',
  'interop/redis/session-store-faults.test.ts',
  'interop/redis/session-store-size.test.ts',
  'interop/redis/session-store.test.ts',
  'interop/redis/sessions-faults.test.ts',
  'interop/redis/sessions-identity.test.ts',
  'interop/redis/sessions-idp-outage.test.ts',
  'interop/redis/sessions-invalidation.test.ts',
  'interop/redis/sessions-lost-renewal.test.ts',
  'interop/redis/sessions-quiet.test.ts',
  'interop/redis/sessions-sentinel.test.ts',
  'interop/redis/sessions-start.test.ts',
];

/** Loaded by Vitest, which runs each project's files in this order. */
export class LongFilesFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root, sequence } = this.ctx.config;
    const name = (file: TestSpecification): string =>
      `${file.project.name}:${relative(root, file.moduleId)}`;
    return Promise.resolve(orderFiles(files, name, sequence.seed));
  }
}

/**
 * Orders files. The same seed gives the same order, whatever order they come in.
 *
 * @param nameOf - The project and the path below the repository, joined by a colon.
 */
export function orderFiles<T>(files: readonly T[], nameOf: (file: T) => string, seed: number): T[] {
  return files
    .map((file) => ({ file, place: placeOf(nameOf(file), seed) }))
    .toSorted((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ file }) => file);
}

function placeOf(name: string, seed: number): string {
  const isLong = LONG_FILES.includes(name.slice(name.indexOf(':') + 1));
  const random = createHash('sha256').update(`${seed}:${name}`).digest('hex');
  return `${isLong ? 0 : 1}${random}`;
}
