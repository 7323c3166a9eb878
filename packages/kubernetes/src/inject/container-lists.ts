/**
 * Where a pod has containers.
 *
 * @module
 */

/**
 * Lists of a pod's containers that get the key. Sidecars are init containers with `restartPolicy: Always`.
 * Not `ephemeralContainers`: a pod cannot be created with them, and a debugger that a person adds later is
 * not the task.
 */
export const CONTAINER_LISTS = ['initContainers', 'containers'] as const;
