/**
 * Pods as teams write them, and what they are to be once the API server has them: the same for every way of injection.
 *
 * @module
 */

/** A container, as far as it matters here. */
interface Container {
  readonly name: string;
  readonly restartPolicy?: string;
  readonly env?: readonly object[];
}

/** One pod. */
export interface PodCase {
  readonly title: string;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  /** Environment of each container afterwards, by its name. */
  readonly expected: Readonly<Record<string, readonly object[]>>;
  /** What is said beside it. */
  readonly warnings?: readonly RegExp[];
}

/** The variable that is injected. */
export const ENTRY = {
  name: 'EAGER_API_KEY',
  valueFrom: { secretKeyRef: { name: 'eager-api-key', key: 'EAGER_API_KEY', optional: false } },
};
const A = { name: 'A', value: '1' };
const OWN = { name: 'EAGER_API_KEY', value: 'of-its-own' };
const OWN_REFERENCE = {
  name: 'EAGER_API_KEY',
  valueFrom: { secretKeyRef: { name: 'another', key: 'EAGER_API_KEY' } },
};
const OPTIONAL = {
  name: 'EAGER_API_KEY',
  valueFrom: { secretKeyRef: { name: 'eager-api-key', key: 'EAGER_API_KEY', optional: true } },
};
const STRONGER = { name: '_UNION_EAGER_API_KEY', value: 'stronger' };
const OWN_STAYS = (place: string) =>
  new RegExp(`spec\\.${place}.*: an EAGER_API_KEY of its own stays`);

/** Selected pods. */
export const POD_CASES: readonly PodCase[] = [
  {
    title: 'with one container and no environment',
    containers: [{ name: 'main' }],
    expected: { main: [ENTRY] },
  },
  {
    title: 'with an environment, behind which the key stands',
    containers: [{ name: 'main', env: [A] }],
    expected: { main: [A, ENTRY] },
  },
  {
    title: 'with an empty environment',
    containers: [{ name: 'main', env: [] }],
    expected: { main: [ENTRY] },
  },
  {
    title: 'with several containers, an init container and a sidecar',
    initContainers: [{ name: 'init' }, { name: 'sidecar', restartPolicy: 'Always', env: [A] }],
    containers: [{ name: 'main', env: [A] }, { name: 'second' }],
    expected: { init: [ENTRY], sidecar: [A, ENTRY], main: [A, ENTRY], second: [ENTRY] },
  },
  {
    title: 'that has the key already',
    containers: [{ name: 'main', env: [ENTRY, A] }],
    expected: { main: [ENTRY, A] },
  },
  {
    title: 'with the key in one container and not in the other',
    containers: [{ name: 'main', env: [ENTRY] }, { name: 'second' }],
    expected: { main: [ENTRY], second: [ENTRY] },
  },
  {
    title: 'with a value of its own, which stays with a warning',
    containers: [{ name: 'main', env: [OWN] }, { name: 'second' }],
    expected: { main: [OWN], second: [ENTRY] },
    warnings: [OWN_STAYS('containers\\[0\\]')],
  },
  {
    title: 'with a reference of its own in an init container, which stays with a warning',
    initContainers: [{ name: 'init', env: [OWN_REFERENCE] }],
    containers: [{ name: 'main' }],
    expected: { init: [OWN_REFERENCE], main: [ENTRY] },
    warnings: [OWN_STAYS('initContainers\\[0\\]')],
  },
  {
    title: 'with an optional reference to the same Secret, which stays with a warning',
    containers: [{ name: 'main', env: [OPTIONAL] }],
    expected: { main: [OPTIONAL] },
    warnings: [OWN_STAYS('containers\\[0\\]')],
  },
  {
    title: 'with the variable that clients read first, of which a warning says so',
    containers: [{ name: 'main', env: [STRONGER] }],
    expected: { main: [STRONGER, ENTRY] },
    warnings: [/spec\.containers\[0\].*: clients read _UNION_EAGER_API_KEY before/],
  },
];
