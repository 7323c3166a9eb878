import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { createAuthority, createServerCertificate, LOOPBACK_NAME } from '../up/certificate.ts';
import { createSystemPorts } from './ports.ts';

/** A TLS server with a certificate of an unknown authority, and what it was sent. */
async function startStranger() {
  const { certificate, key } = createServerCertificate(createAuthority(Date.now()), Date.now());
  const seen: string[] = [];
  const server = createServer(
    { cert: certificate.toString(), key: key.export({ type: 'pkcs8', format: 'pem' }) },
    (socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => seen.push(bytes.toString()));
    },
  );
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, LOOPBACK_NAME, resolve));
  onTestFinished(() => void server.close());
  return { url: `https://${LOOPBACK_NAME}:${(server.address() as AddressInfo).port}/token`, seen };
}

it('a request that must not be sent twice is not sent to a server whose certificate is not trusted', async () => {
  const { url, seen } = await startStranger();
  const { patientFetch } = createSystemPorts(() => {});
  const refused = patientFetch(url, { method: 'POST', body: 'refresh_token=canary' });
  await expect(refused).rejects.toMatchObject({
    name: 'NotSentError',
    cause: { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
  });
  expect(seen).toEqual([]);
});

it('neither is any other request, which fails as with the fetch of the runtime', async () => {
  const { url, seen } = await startStranger();
  const { fetch } = createSystemPorts(() => {});
  await expect(fetch(url)).rejects.toMatchObject({
    name: 'TypeError',
    message: 'fetch failed',
    cause: { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
  });
  expect(seen).toEqual([]);
});
