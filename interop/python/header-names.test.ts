import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Running, start, temporaryFolder } from '../../conformance/wire/process.ts';
import { requirePart } from '../parts.ts';
import { findPythonClients } from './python-clients.ts';
import { type SecurePlane, startSecurePlane } from './secure-plane.ts';
import { createWorkstation, type Workstation } from './workstation.ts';

const CLIENTS = await findPythonClients();
const [GRPC_HEADER, HTTP_HEADER] = ['core-grpc', 'core-http'];

describe.skipIf(CLIENTS.isLeftOut)(
  'auth.grpcAuthorizationHeader beside auth.httpAuthorizationHeader',
  () => {
    let plane: SecurePlane;
    let service: Running;
    let workstation: Workstation;
    const folder = temporaryFolder();

    beforeAll(async () => {
      plane = await startSecurePlane();
      const file = join(folder.path, 'sallyport.yaml');
      writeFileSync(
        file,
        [
          'auth:',
          `  grpcAuthorizationHeader: ${GRPC_HEADER}`,
          `  httpAuthorizationHeader: ${HTTP_HEADER}`,
          'bearer:',
          '  onlyConfiguredHeader: true',
          '',
        ].join('\n'),
      );
      const environment = { ...plane.deployment, SALLYPORT_STATE_DIRECTORY: folder.path };
      service = await start(['serve', '--port', '0', '--config', file], environment);
      workstation = createWorkstation(requirePart(CLIENTS), plane);
    });

    afterAll(async () => {
      await service.stop();
      await plane.stop();
      workstation.remove();
      folder.remove();
    });

    const check = async (header: string, token: string): Promise<number> => {
      const headers = { [header]: `Bearer ${token}` };
      return (await fetch(`${service.url}/me`, { headers })).status;
    };

    it('flytekit follows the name that the platform tells it, which is the gRPC one', async () => {
      workstation.configure({
        endpoint: `dns:///${new URL(service.url).host}`,
        insecure: true,
        authType: 'ClientSecret',
        clientId: plane.serviceClientId,
        clientSecretLocation: plane.serviceSecretFile,
      });
      // With `onlyConfiguredHeader` no other name is read on gRPC.
      expect(await workstation.calls('flytekit', 1)).toMatchObject([
        { subject: plane.serviceClientId },
      ]);
    });

    it('HTTP reads its own name only', async () => {
      const answer = await fetch(plane.deployment['AUTH_TOKEN_URL'] ?? '', {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'all' }),
        headers: { authorization: plane.serviceCredentials() },
      });
      const { access_token: token } = (await answer.json()) as { readonly access_token: string };
      expect(await check(HTTP_HEADER, token)).toBe(200);
      expect(await check(GRPC_HEADER, token)).toBe(401);
      expect(await check('authorization', token)).toBe(401);
    });
  },
);
