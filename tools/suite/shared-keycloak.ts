/**
 * One Keycloak for all tests of a run that ask for it: the first request starts it. Each test has a realm of its own.
 *
 * @module
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { keepKeycloak } from '../keycloak/keycloak-folder.ts';
import { startKeycloak } from '../keycloak/start-keycloak.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * Answers `/folder` with where the Keycloak is kept, which is fetched and built for it, and `/` with address and
     * administrator of the running one as JSON; with 500 and why there is none.
     */
    readonly sharedKeycloak: string;
  }
}

/** Listens for the tests. Vitest calls it by this name, once before the files of a project (`globalSetup`). */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let starting: ReturnType<typeof startKeycloak> | undefined;
  let keeping: Promise<string> | undefined;
  const server = createServer((req, res) => {
    const fail = (error: unknown): void => void res.writeHead(500).end(String(error));
    if (req.url === '/folder') {
      keeping ??= keepKeycloak();
      keeping.then((folder) => res.end(folder), fail);
      return;
    }
    starting ??= startKeycloak();
    starting.then((keycloak) => res.end(JSON.stringify(keycloak)), fail);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project.provide('sharedKeycloak', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    server.closeAllConnections();
    const running = await starting?.catch(() => undefined);
    await running?.stop();
  };
}
