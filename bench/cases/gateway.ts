/**
 * The embedded gateway beside nginx doing the same job.
 *
 * @module
 */

import { Browser } from '../../conformance/wire/browser.ts';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { type Bench, type BenchCase, measureInTurn } from '../bench-case.ts';
import type { Candidate } from '../load/candidate.ts';
import { LOAD_CORE, SERVER_CORE, startPinned, waitForLine } from '../process/pinned.ts';
import { p99Finding, rateFinding } from '../report/findings.ts';
import { startIdentityProvider } from '../servers/identity-provider.ts';
import { startNginx } from '../servers/nginx.ts';
import { backendServer, copyRecipe, recipeServer } from '../servers/nginx-recipe.ts';
import { COMMAND, startSallyport } from '../servers/sallyport.ts';
import { BEHIND_NGINX } from './nginx.ts';

const PATH = '/console';

/** `sallyport up`, with the verdict in process, and nginx that asks `sallyport serve`; one backend. */
export const GATEWAY: BenchCase = {
  name: 'gateway',
  title: 'A backend behind the embedded gateway, and behind nginx',
  needs: ['taskset', 'wrk', 'nginx'],
  async run(bench) {
    const { ends } = bench;
    const backend = await startNginx(ends, { core: LOAD_CORE, http: backendServer });
    const measured = await measureInTurn(bench, [
      await embedded(bench, backend.origin),
      await withNginx(bench, new URL(backend.origin).host),
    ]);
    const [own, other] = measured;
    return {
      notes: [
        'Both check each request, remove what a backend must not see, add who it is, and pass it on over connections that stay open. The backend runs off the core of the servers. The gateway is `sallyport up`, with its identity provider in the same process.',
      ],
      measured,
      findings:
        own === undefined || other === undefined
          ? []
          : [rateFinding(own, other), p99Finding(own, other)],
    };
  },
};

async function embedded({ ends }: Bench, backend: string): Promise<Candidate> {
  const state = temporaryFolder();
  ends.add(() => state.remove());
  const running = startPinned(
    ends,
    SERVER_CORE,
    [
      ...[process.execPath, COMMAND, 'up', '--port', '0', '--state', state.path],
      ...['--upstream', backend, '--sign-in-as', 'ada'],
    ],
    {},
  );
  const url = await waitForLine(running, /ready (http:\S+)/);
  const browser = new Browser();
  await browser.visit(`${url}${PATH}`);
  const cookie = browser.cookie(new URL(url).hostname, 'core_session');
  if (cookie === undefined) throw new Error('the sign-in at the gateway gave no session');
  return {
    name: 'embedded gateway',
    url: `http://127.0.0.1:${new URL(url).port}${PATH}`,
    samples: [{ headers: { cookie: `core_session=${cookie}` }, status: 200 }],
    pids: () => [running.pid],
  };
}

async function withNginx({ ends }: Bench, backend: string): Promise<Candidate> {
  const idp = await startIdentityProvider(ends);
  const sallyport = await startSallyport(ends, { idp, config: BEHIND_NGINX });
  const admin = new URL(sallyport.origin).host;
  const nginx = await startNginx(ends, {
    core: SERVER_CORE,
    http: (port) => recipeServer(port, admin, backend),
    fill: copyRecipe,
  });
  return {
    name: 'nginx and Sallyport',
    url: `${nginx.origin}${PATH}`,
    samples: [{ headers: { cookie: await sallyport.signIn() }, status: 200 }],
    pids: () => [...nginx.pids(), ...sallyport.pids()],
  };
}
