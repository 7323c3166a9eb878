/**
 * One Kubernetes API for all tests of a run that ask for it: the first request starts it.
 *
 * @module
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { findPart, requirePart } from '../../interop/parts.ts';
import { buildGoTool } from '../cluster/go-tools.ts';
import { type RunningApiServer, startApiServer } from '../cluster/start-api-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers with the access as JSON, or with 500 and the reason why there is none. */
    readonly apiServer: string;
  }
}

/** Listens for the tests. Vitest calls it by this name, once before the files of a project (`globalSetup`). */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: Promise<RunningApiServer> | undefined;
  const server = createServer((_, res) => {
    started ??= start();
    started.then(
      ({ access }) => res.end(JSON.stringify(access)),
      (error: unknown) => res.writeHead(500).end(String(error)),
    );
  });
  // A build takes minutes, in which nothing is sent.
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project.provide('apiServer', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    server.closeAllConnections();
    const running = await started?.catch(() => undefined);
    await running?.stop();
  };
}

async function start(): Promise<RunningApiServer> {
  const etcd = requirePart(findPart('etcd'));
  return startApiServer({ etcd, apiServer: await buildGoTool('kube-apiserver') });
}
