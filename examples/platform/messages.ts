/**
 * What passes between an actor's process and the one that starts it.
 *
 * @module
 */

import type { ActorName } from './actors.ts';

/** The first message to a process: which actor it is. Its credentials stand in its files or environment. */
export interface StartActor {
  readonly actor: ActorName;
  /** Absent for the task pod. */
  readonly configFile?: string;
  /** Public URL of the platform, which tokens are for. */
  readonly publicUrl: string;
  /** Issuer of the tokens that callers bring. */
  readonly issuer: string;
  /** Labels of the data plane's namespace, as the cluster has them: the executor asks for them. */
  readonly namespaceLabels: Readonly<Record<string, string>>;
  /** Where port 443 of the platform leads from the task pod. */
  readonly ingressPort: number;
}

/** How an actor is, as it says after each change. Holds no secret. */
export interface ActorReport {
  readonly kind: 'report';
  /** Client that it asks for tokens as; `undefined` when it asks for none. */
  readonly clientId: string | undefined;
  /** Epoch milliseconds; `undefined` without a token. */
  readonly tokenEndsAt: number | undefined;
  /** When it was obtained; epoch milliseconds. */
  readonly tokenSince: number | undefined;
  /** Calls that its peer admitted. */
  readonly admitted: number;
  /** Who the peer says has called, at the last admitted call. */
  readonly knownAs: string | undefined;
  /** How the peer answered a call without a token: an HTTP status or the name of a gRPC code; `admitted` is a fault. */
  readonly withoutToken: string | undefined;
  /** Why the last call failed; `undefined` when it was admitted, or when there was none yet. */
  readonly failure: string | undefined;
}

/** Messages of an actor. */
export type FromActor =
  | ActorReport
  /** It accepts calls here, on the loopback. */
  | { readonly kind: 'listening'; readonly http: number; readonly grpc: number }
  /** The executor made the task pod: a pod as Kubernetes takes it. */
  | { readonly kind: 'pod'; readonly pod: object }
  /** It is about to exit with 1, and why. */
  | { readonly kind: 'ending'; readonly cause: string };
