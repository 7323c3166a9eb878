/**
 * The part of the configuration that is about the session store in Redis.
 *
 * @module
 */

/** How a Redis deployment is laid out. */
export type RedisMode = 'standalone' | 'sentinel' | 'cluster';

/** Used with `session.store: redis`. A text that is not set is the empty string. */
export interface RedisConfig {
  readonly mode: RedisMode;
  /** `host:port` each: the server, the sentinels, or some servers of the cluster. */
  readonly addresses: readonly string[];
  readonly sentinelMaster: string;
  readonly username: string;
  readonly passwordLocation: string;
  readonly sentinelPasswordLocation: string;
  readonly tls: {
    readonly enabled: boolean;
    readonly caFile: string;
    readonly certFile: string;
    readonly keyFile: string;
    readonly serverName: string;
  };
  readonly database: number;
  readonly keyPrefix: string;
  readonly replicas: number;
  readonly commandTimeoutMs: number;
  readonly allowWithoutAppendOnlyFile: boolean;
}
