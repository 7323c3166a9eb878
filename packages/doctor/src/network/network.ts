/**
 * The network as probes use it.
 *
 * @module
 */

/** What a server showed when TLS came up. */
export interface ShownCertificate {
  /** Why it is not trusted, as Node and OpenSSL name it; empty when it is. */
  readonly problem: string;
  /** Untrusted words of the certificate. */
  readonly subject: string;
  readonly issuer: string;
  readonly names: string;
  /** Epoch milliseconds. */
  readonly validTo: number;
}

/** The network. Each call ends when the signal is aborted, or fails with the system's code. */
export interface Network {
  readonly fetch: typeof fetch;
  /** Addresses of a name. */
  lookup(host: string): Promise<readonly string[]>;
  /** Opens and closes a connection. */
  connect(address: string, port: number, signal: AbortSignal): Promise<void>;
  /** Begins TLS there, for that name, and ends it. Sends nothing. */
  showCertificate(
    address: string,
    port: number,
    name: string,
    signal: AbortSignal,
  ): Promise<ShownCertificate>;
  /**
   * Whether anything of an answer comes within two seconds: a GET of the path, without a query or a header of ours. Says no of what
   * lies behind a proxy.
   */
  hears(url: URL): Promise<boolean>;
  /** The proxy through which this URL is fetched; `undefined` without one. */
  findProxy(url: URL): string | undefined;
}

/** The system's or TLS's code in a failure and those underneath; empty when there is none. */
export function codeOf(failure: unknown): string {
  let looked: unknown = failure;
  for (let depth = 0; depth < 6 && looked instanceof Error; depth += 1) {
    if ('code' in looked && typeof looked.code === 'string' && !looked.code.startsWith('SP_'))
      return looked.code;
    if (looked instanceof AggregateError && looked.errors.length > 0) looked = looked.errors[0];
    else looked = looked.cause;
  }
  return '';
}
