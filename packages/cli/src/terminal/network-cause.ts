/**
 * Why a server could not be reached, in words a person can act on.
 *
 * @module
 */

/** A reason and what to do about it. */
export interface NetworkCause {
  /** Completes "… does not answer: why". */
  readonly why: string;
  readonly hint: string;
}

const UNTRUSTED: NetworkCause = {
  why: 'its certificate is of an authority that is not trusted here',
  hint: 'Name the file with the certificate of the authority: --ca-file FILE',
};
const NAMELESS: NetworkCause = {
  why: 'there is no such name',
  hint: 'Compare the address. Behind a proxy, set HTTPS_PROXY.',
};
const SLOW: NetworkCause = {
  why: 'no answer in time',
  hint: 'Compare the address, and look at network, VPN and proxy.',
};
const NOT_TLS: NetworkCause = {
  why: 'it does not speak TLS',
  hint: 'Compare the port. A platform without TLS on this machine is written http://localhost:PORT',
};

/** By code of the system, of TLS and of the HTTP client. */
const CAUSES: ReadonlyMap<string, NetworkCause> = new Map([
  ['CERT_HAS_EXPIRED', { why: 'its certificate has expired', hint: '' }],
  ['CERT_NOT_YET_VALID', { why: 'its certificate is not valid yet: compare the clocks', hint: '' }],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', UNTRUSTED],
  ['EAI_AGAIN', { why: 'its name cannot be looked up now', hint: SLOW.hint }],
  [
    'ECONNREFUSED',
    { why: 'nothing listens there', hint: 'Compare address and port. Is the platform running?' },
  ],
  ['ECONNRESET', { why: 'it ended the connection', hint: SLOW.hint }],
  ['EHOSTUNREACH', { why: 'there is no way to it', hint: SLOW.hint }],
  ['ENETUNREACH', { why: 'there is no network', hint: SLOW.hint }],
  ['ENOTFOUND', NAMELESS],
  ['EPROTO', NOT_TLS],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    { why: 'its certificate is for another name', hint: 'Compare the address.' },
  ],
  [
    'ERR_PROXY_TUNNEL',
    {
      why: 'the proxy makes no tunnel to it',
      hint: 'Compare HTTPS_PROXY and NO_PROXY, and look at the log of the proxy.',
    },
  ],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', NOT_TLS],
  ['ERR_SSL_WRONG_VERSION_NUMBER', NOT_TLS],
  ['ETIMEDOUT', SLOW],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNTRUSTED],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNTRUSTED],
  ['UND_ERR_CONNECT_TIMEOUT', SLOW],
]);
const DEPTH_MAX = 6;

/** Looks for a known cause in a failure and those underneath; `undefined` when there is none. */
export function findNetworkCause(failure: unknown): NetworkCause | undefined {
  let looked: unknown = failure;
  for (let depth = 0; depth < DEPTH_MAX && looked instanceof Error; depth += 1) {
    const isTimeout = 'reason' in looked && looked.reason === 'timed_out';
    if (isTimeout || looked.name === 'TimeoutError') return SLOW;
    const cause = 'code' in looked ? CAUSES.get(String(looked.code)) : undefined;
    if (cause !== undefined) return cause;
    looked = looked.cause;
  }
  return undefined;
}
