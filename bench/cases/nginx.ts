/**
 * nginx in front, with the check, with a remembered check, and without any.
 *
 * @module
 */

import { type BenchCase, measureInTurn } from '../bench-case.ts';
import type { Candidate } from '../load/candidate.ts';
import { SERVER_CORE } from '../process/pinned.ts';
import { p99Finding, rateFinding } from '../report/findings.ts';
import { startIdentityProvider } from '../servers/identity-provider.ts';
import { CONTENT_PATH, type Nginx, startNginx } from '../servers/nginx.ts';
import {
  copyRecipe,
  generateCachingRecipe,
  openServer,
  peerServer,
  recipeServer,
} from '../servers/nginx-recipe.ts';
import { type PeerOptions, startPeer } from '../servers/oauth2-proxy.ts';
import { startSallyport } from '../servers/sallyport.ts';

/** nginx is a proxy whose word on addresses counts. */
export const BEHIND_NGINX = 'trustedProxies: [127.0.0.1]\n';
const BY_SOCKET = 'trustedProxies: [unix]\n';
const KEPT_FOR = '5s';
const CACHING = `${BEHIND_NGINX}doors:\n  me:\n    verdictCache: ${KEPT_FOR}\n`;

/** Content of nginx' own, so that nothing but the check makes the difference; all on one core. */
export const NGINX: BenchCase = {
  name: 'nginx',
  title: 'Content behind nginx that asks for each request',
  needs: ['taskset', 'wrk', 'nginx'],
  async run(bench) {
    const { ends, peerPath } = bench;
    const idp = await startIdentityProvider(ends);
    const candidate = (
      name: string,
      nginx: Nginx,
      headers: Readonly<Record<string, string>>,
      others: readonly number[] = [],
    ): Candidate => ({
      name,
      url: nginx.origin + CONTENT_PATH,
      samples: [{ headers, status: 200 }],
      pids: () => [...nginx.pids(), ...others],
    });
    const behind = async (
      name: string,
      config: string,
      fill: (folder: string) => void,
      onUnixSocket = false,
    ) => {
      const sallyport = await startSallyport(ends, { idp, config, onUnixSocket });
      const { origin } = sallyport;
      const address = onUnixSocket ? origin : new URL(origin).host;
      const http = (port: number) => recipeServer(port, address);
      const nginx = await startNginx(ends, { core: SERVER_CORE, http, fill });
      const cookie = await sallyport.signIn(nginx.origin);
      return candidate(name, nginx, { cookie }, sallyport.pids());
    };
    const behindPeer = async (options: PeerOptions) => {
      const peer = await startPeer(ends, options);
      const address = new URL(peer.origin).host;
      const http = (port: number) => peerServer(port, address);
      const nginx = await startNginx(ends, { core: SERVER_CORE, http });
      return candidate('oauth2-proxy', nginx, { cookie: await peer.signIn() }, peer.pids());
    };

    const open = await startNginx(ends, { core: SERVER_CORE, http: openServer });
    const measured = await measureInTurn(bench, [
      candidate('no check', open, {}),
      await behind('Sallyport', BEHIND_NGINX, copyRecipe),
      await behind('Sallyport, Unix socket', BY_SOCKET, copyRecipe, true),
      await behind('Sallyport, verdictCache', CACHING, generateCachingRecipe),
      ...(peerPath === undefined
        ? []
        : [await behindPeer({ idp, path: peerPath, isBehindProxy: true })]),
    ]);
    const [plain, own, socket, kept, other] = measured;
    if (plain === undefined || own === undefined || socket === undefined || kept === undefined)
      throw new Error('nothing was measured');
    return {
      notes: [
        'nginx and what it asks share the core, over connections that stay open; the content is a small file of nginx. Sallyport is asked by the recipe of deploy/nginx, oauth2-proxy by the one it documents.',
        `With verdictCache nginx keeps an admission for ${KEPT_FOR}.`,
      ],
      measured,
      findings: [
        ...(other === undefined ? [] : [rateFinding(own, other, 2.1), p99Finding(own, other, 1)]),
        rateFinding(socket, plain, 0.24),
        ...(other === undefined ? [] : [rateFinding(socket, other, 2.8)]),
        rateFinding(kept, plain, 0.65),
        ...(other === undefined ? [] : [p99Finding(kept, other, 1)]),
        rateFinding(own, plain),
      ],
    };
  },
};
