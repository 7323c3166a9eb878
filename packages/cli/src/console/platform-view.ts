/**
 * What the page of the platform shows of each service.
 *
 * @module
 */

/** One service that is no person. Holds no secret. */
export interface ActorView {
  readonly name: string;
  readonly plane: 'control plane' | 'data plane';
  readonly peer: string;
  readonly protocol: string;
  /** The block of its configuration, or the variable, that its client stands in. */
  readonly readsFrom: string;
  /** Name of the Kubernetes Secret, and the file it is mounted as below {@link folder}. */
  readonly secret: string;
  readonly secretFile: string;
  /** Stands for the root of the pod's file system. */
  readonly folder: string;
  readonly logFile: string;
  /** `starting` until its first call; `waiting` while it has no process. */
  readonly state: 'starting' | 'calling' | 'failing' | 'waiting';
  readonly clientId: string | undefined;
  readonly knownAs: string | undefined;
  /** Epoch milliseconds. */
  readonly tokenEndsAt: number | undefined;
  /** When it was obtained; epoch milliseconds. */
  readonly tokenSince: number | undefined;
  readonly admitted: number;
  /** How its peer answered a call without a token. */
  readonly withoutToken: string | undefined;
  readonly starts: number;
  /** Epoch milliseconds; known while it waits. */
  readonly startsAgainAt: number | undefined;
  /** In words; `since` and `until` in epoch milliseconds. `until` once a later call was admitted. */
  readonly lastError:
    | { readonly words: string; readonly since: number; readonly until: number | undefined }
    | undefined;
}

/** All of them, in the order of the table. */
export type PlatformView = readonly ActorView[];
