import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAuthority, createServerCertificate, type KeyedCertificate } from './certificate.ts';
import { openTlsFiles } from './tls-files.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 21, 12);

/** How a client that trusts an authority ends its handshake: trusted, or the error's message. */
async function shakeHands(
  server: { readonly key: string; readonly cert: string },
  ca: string,
  servername: string,
): Promise<string> {
  const listener = createServer(server);
  listener.on('tlsClientError', () => {});
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  onTestFinished(() => void listener.close());
  const { promise, resolve } = Promise.withResolvers<string>();
  const { port } = listener.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', servername, ca }, () => {
    resolve(socket.authorized ? 'trusted' : 'not trusted');
    socket.end();
  });
  socket.on('error', (error) => resolve(error.message));
  return promise;
}

function pem({ certificate, key }: KeyedCertificate): { key: string; cert: string } {
  return { key: key.export({ type: 'pkcs8', format: 'pem' }), cert: certificate.toString() };
}

describe('the server certificate of this machine', () => {
  it('names localhost and no address, which BoringSSL would refuse, serves TLS, and is not the authority itself', () => {
    const { cert, caFile } = openTlsFiles(createTemporaryFolder(), NOW);
    const server = new X509Certificate(cert);
    const authority = new X509Certificate(readFileSync(caFile));
    expect(server.subjectAltName).toBe('DNS:localhost');
    expect(server.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(server.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    expect([server.ca, authority.ca]).toEqual([false, true]);
    expect(server.verify(authority.publicKey)).toBe(true);
    expect(server.checkIssued(authority)).toBe(true);
    expect(server.checkHost('example.org')).toBeUndefined();
  });

  it('lives at most 397 days, its authority ten years', () => {
    const { cert, caFile } = openTlsFiles(createTemporaryFolder(), NOW);
    const life = ({ validFromDate, validToDate }: X509Certificate) =>
      validToDate.getTime() - validFromDate.getTime();
    const days = life(new X509Certificate(cert)) / DAY;
    expect(days).toBeGreaterThan(396);
    expect(days).toBeLessThanOrEqual(397);
    expect(life(new X509Certificate(readFileSync(caFile))) / DAY).toBeCloseTo(3_652, 0);
  });

  // Chains are checked against the system's clock.
  it('is trusted by a client that trusts the authority, and by no other', async () => {
    const files = openTlsFiles(createTemporaryFolder(), Date.now());
    const ca = readFileSync(files.caFile, 'utf8');
    expect(await shakeHands(files, ca, 'localhost')).toBe('trusted');
    const stranger = createAuthority(Date.now()).certificate.toString();
    expect(await shakeHands(files, stranger, 'localhost')).toMatch(/unable to /);
  });

  it('an authority of this machine is believed for no other host', async () => {
    const now = Date.now();
    const authority = createAuthority(now);
    const ca = authority.certificate.toString();
    const elsewhere = pem(createServerCertificate(authority, now, ['bank.example']));
    expect(await shakeHands(elsewhere, ca, 'bank.example')).toBe('permitted subtree violation');
    const here = pem(createServerCertificate(authority, now));
    expect(await shakeHands(here, ca, 'localhost')).toBe('trusted');
  });
});

describe('openTlsFiles', () => {
  it('keeps keys and folder from other users', () => {
    const state = createTemporaryFolder();
    openTlsFiles(state, NOW);
    const folder = join(state, 'tls');
    const modes = readdirSync(folder).map((name) => [
      name,
      (statSync(join(folder, name)).mode & 0o777).toString(8),
    ]);
    expect(Object.fromEntries(modes)).toEqual({
      'ca.pem': '644',
      'ca-key.pem': '600',
      'server.pem': '644',
      'server-key.pem': '600',
    });
    expect((statSync(folder).mode & 0o777).toString(8)).toBe('700');
  });

  it('gives the same certificates at the next start', () => {
    const state = createTemporaryFolder();
    const first = openTlsFiles(state, NOW);
    const ca = readFileSync(first.caFile, 'utf8');
    expect(openTlsFiles(state, NOW + DAY)).toEqual(first);
    expect(readFileSync(first.caFile, 'utf8')).toBe(ca);
  });

  it.each([
    [366, 'kept'],
    [368, 'renewed'],
    [500, 'renewed'],
  ])('after %i days the server certificate is %s, under the same authority', (days, what) => {
    const state = createTemporaryFolder();
    const first = openTlsFiles(state, NOW);
    const ca = readFileSync(first.caFile, 'utf8');
    const later = openTlsFiles(state, NOW + days * DAY);
    expect(later.cert === first.cert ? 'kept' : 'renewed').toBe(what);
    expect(readFileSync(later.caFile, 'utf8')).toBe(ca);
    expect(new X509Certificate(later.cert).verify(new X509Certificate(ca).publicKey)).toBe(true);
  });

  it.each([
    [3_621, 'kept'],
    [3_623, 'replaced'],
  ])('after %i days the authority is %s', (days, what) => {
    const state = createTemporaryFolder();
    const ca = readFileSync(openTlsFiles(state, NOW).caFile, 'utf8');
    const later = openTlsFiles(state, NOW + days * DAY);
    expect(readFileSync(later.caFile, 'utf8') === ca ? 'kept' : 'replaced').toBe(what);
    const { validToDate } = new X509Certificate(later.cert);
    expect(validToDate.getTime()).toBeLessThanOrEqual(
      new X509Certificate(readFileSync(later.caFile)).validToDate.getTime(),
    );
  });

  it.each([
    ['ca.pem', 'both'],
    ['ca-key.pem', 'both'],
    ['server.pem', 'server'],
    ['server-key.pem', 'server'],
  ])('makes anew what a damaged %s has spoilt: %s', (name, what) => {
    const state = createTemporaryFolder();
    const first = openTlsFiles(state, NOW);
    const ca = readFileSync(first.caFile, 'utf8');
    const path = join(state, 'tls', name);
    chmodSync(path, 0o600);
    writeFileSync(path, 'damaged');
    const second = openTlsFiles(state, NOW);
    expect(second.cert).not.toBe(first.cert);
    const authority = readFileSync(second.caFile, 'utf8');
    expect(authority === ca ? 'server' : 'both').toBe(what);
    expect(new X509Certificate(second.cert).verify(new X509Certificate(authority).publicKey)).toBe(
      true,
    );
  });

  it('takes no key that belongs to another certificate', () => {
    const state = createTemporaryFolder();
    const first = openTlsFiles(state, NOW);
    const other = openTlsFiles(createTemporaryFolder(), NOW);
    writeFileSync(join(state, 'tls', 'server-key.pem'), other.key);
    const second = openTlsFiles(state, NOW);
    expect([first.key, other.key]).not.toContain(second.key);
  });
});
