/**
 * The network of this machine, by Node.
 *
 * @module
 */

import { lookup as lookupName } from 'node:dns/promises';
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls, type PeerCertificate } from 'node:tls';
import type { Network, ShownCertificate } from './network.ts';

/** What the command has prepared. */
export interface NodeNetworkOptions {
  /** With its certificates and proxies. */
  readonly fetch: typeof fetch;
  readonly findProxy: (url: URL) => string | undefined;
}

/**
 * Creates the network.
 *
 * Names are asked of the system's resolver, as every program here does. A certificate is verified against the
 * process's default authorities; a connection whose certificate is not trusted is closed without a byte sent.
 */
export function createNodeNetwork({ fetch, findProxy }: NodeNetworkOptions): Network {
  const hears: Network['hears'] = (url) =>
    findProxy(url) === undefined ? hearAnswer(url) : Promise.resolve(false);
  return { fetch, findProxy, lookup, connect, showCertificate, hears };
}

async function lookup(host: string): Promise<readonly string[]> {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) !== 0) return [bare];
  return (await lookupName(bare, { all: true })).map(({ address }) => address);
}

function connect(address: string, port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ host: address, port });
    const end = (error?: Error): void => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    const onAbort = (): void => end(timedOut());
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => end());
    socket.once('error', end);
  });
}

function showCertificate(
  address: string,
  port: number,
  name: string,
  signal: AbortSignal,
): Promise<ShownCertificate> {
  return new Promise((resolve, reject) => {
    const bare = name.replace(/^\[(.*)\]$/, '$1');
    const socket = connectTls({
      host: address,
      port,
      // A server name is a name, never an address (RFC 6066 section 3).
      ...(isIP(bare) === 0 ? { servername: bare } : {}),
      ALPNProtocols: ['h2', 'http/1.1'],
      // Looked at below; nothing is sent over it.
      rejectUnauthorized: false,
    });
    const end = (settle: () => void): void => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      settle();
    };
    const onAbort = (): void => end(() => reject(timedOut()));
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', (error) => end(() => reject(error)));
    socket.once('secureConnect', () => {
      const shown = describe(
        socket.getPeerCertificate(),
        socket.authorized ? '' : String(socket.authorizationError),
      );
      end(() => resolve(shown));
    });
  });
}

const HEAR_MS = 2_000;

function hearAnswer({ protocol, hostname, host, port, pathname }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const bare = hostname.replace(/^\[(.*)\]$/, '$1');
    const isSecure = protocol === 'https:';
    const place = { host: bare, port: Number(port) || (isSecure ? 443 : 80) };
    const socket = isSecure
      ? connectTls({ ...place, ...(isIP(bare) === 0 ? { servername: bare } : {}) })
      : connectTcp(place);
    const end = (isHeard: boolean) => (): void => {
      socket.destroy();
      resolve(isHeard);
    };
    socket.setTimeout(HEAR_MS, end(false));
    socket.once('error', end(false));
    socket.once('close', end(false));
    socket.once('data', end(true));
    socket.once(isSecure ? 'secureConnect' : 'connect', () =>
      socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    );
  });
}

function describe(certificate: PeerCertificate, problem: string): ShownCertificate {
  return {
    problem,
    subject: nameOf(certificate.subject),
    issuer: nameOf(certificate.issuer),
    names: certificate.subjectaltname ?? '',
    validTo: Date.parse(certificate.valid_to),
  };
}

/** The common name, or the first part there is. */
function nameOf(name: PeerCertificate['subject'] | undefined): string {
  const values = Object.values(name ?? {}).flat();
  const common = name?.CN;
  return (Array.isArray(common) ? common[0] : common) ?? values[0] ?? 'no name';
}

function timedOut(): Error {
  return Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' });
}
