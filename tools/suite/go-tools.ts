/**
 * Builds programs of Kubernetes for the tests of a run that ask for them: the first request starts a build.
 *
 * @module
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { buildGoTool, type GoToolName, isGoToolName } from '../cluster/go-tools.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers `/NAME` with the path of that program, or with 500 and the reason why there is none. */
    readonly goTools: string;
  }
}

/** Listens for the tests. Vitest calls it by this name, once before the files of a project (`globalSetup`). */
export async function setup(project: TestProject): Promise<() => void> {
  const builds = new Map<GoToolName, Promise<string>>();
  const server = createServer((req, res) => {
    const name = (req.url ?? '').slice(1);
    if (!isGoToolName(name)) {
      res.writeHead(404).end(`no program ${name} is known`);
      return;
    }
    const build = builds.get(name) ?? buildGoTool(name);
    builds.set(name, build);
    build.then(
      (path) => res.end(path),
      (error: unknown) => res.writeHead(500).end(String(error)),
    );
  });
  // A cold build takes minutes, during which nothing is sent.
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project.provide('goTools', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return () => {
    server.close();
    server.closeAllConnections();
  };
}
