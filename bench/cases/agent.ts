/**
 * `sallyport agent`: how long a program waits for a token from the socket, and how much memory the agent takes.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { Agent, type RequestOptions, request } from 'node:http';
import { join } from 'node:path';
import { startFakePlatform } from '../../conformance/cli/fake-platform.ts';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { buildCommand } from '../../tools/build/build-command.ts';
import { COMMAND_FOLDER } from '../../tools/build/layout.ts';
import type { BenchCase } from '../bench-case.ts';
import { summarize } from '../load/statistics.ts';
import { SERVER_CORE, startPinned, waitForLine } from '../process/pinned.ts';
import { usageOf } from '../process/usage.ts';
import { judge } from '../report/report.ts';
import { startBare } from '../servers/bare.ts';

const TIMES = 2_000;
const TIMES_QUICK = 200;
/** The first ones find code that is not compiled yet. */
const WARM_UP = 200;
const WANTED_MS = 1;
const WANTED_MB = 30;
const MB = 1_000_000;
const MEMORY = 'memory (RSS) above bare node:http';

/** Beside a bare node:http server, which takes as little memory as any server in Node. */
export const AGENT: BenchCase = {
  name: 'agent',
  title: '`sallyport agent`: a token from its Unix socket',
  needs: ['taskset'],
  async run({ ends, isQuick, say }) {
    const folder = temporaryFolder();
    ends.add(() => folder.remove());
    await buildCommand(folder.path, undefined);
    const platform = await startFakePlatform();
    ends.add(() => platform.close());
    const [config, secret, socket] = ['config.yaml', 'secret', 'run/s'].map((name) =>
      join(folder.path, name),
    ) as [string, string, string];
    writeFileSync(secret, 'a-secret-of-this-case', { mode: 0o600 });
    writeFileSync(
      config,
      `admin: {endpoint: "${platform.url}", insecure: true}\nunion: {auth: {clientId: service, clientSecretLocation: "${secret}"}}\n`,
    );
    const command = join(folder.path, COMMAND_FOLDER, 'bin/sallyport.js');
    const args = [process.execPath, command, 'agent', '--config', config, '--socket', socket];
    const agent = startPinned(ends, SERVER_CORE, args, {});
    await waitForLine(agent, /^ready /m);
    const bare = await startBare(ends, `${platform.url}/.well-known/openid-configuration`, {});

    const times = isQuick ? TIMES_QUICK : TIMES;
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    ends.add(() => kept.destroy());
    const above = (): number =>
      (usageOf([agent.pid]).rssBytes - usageOf([bare.process.pid]).rssBytes) / MB;
    const idleMb = above();
    const get = (connections: Agent | false) => () =>
      ask({ socketPath: socket, path: '/token', agent: connections }, '"access_token"');
    const anew = await timeAll(times, get(false));
    const again = await timeAll(times, get(kept));
    const { hostname, port } = new URL(bare.url);
    for (const connections of [false, kept] as const)
      await timeAll(times, () => ask({ host: hostname, port, agent: connections }, 'issuer'));
    const busyMb = above();
    say(
      `  ${anew.median.toFixed(2)} ms, on a kept connection ${again.median.toFixed(2)} ms; ${idleMb.toFixed(0)} MB above bare idle, ${busyMb.toFixed(0)} MB after the requests`,
    );
    return {
      notes: [
        `The middle of ${times} requests, one after the other. Memory is compared before them, and after both servers have answered as many.`,
      ],
      measured: [],
      findings: [
        judge('a token from the socket, on a new connection', 'ms', anew, 'at most', WANTED_MS),
        judge('a token from the socket, on a kept connection', 'ms', again, 'at most', WANTED_MS),
        judge(`${MEMORY}, idle`, 'MB', summarize([idleMb]), 'at most', WANTED_MB),
        judge(`${MEMORY}, after requests`, 'MB', summarize([busyMb]), 'at most', WANTED_MB),
      ],
    };
  },
};

async function timeAll(times: number, act: () => Promise<void>) {
  const took: number[] = [];
  for (let n = -WARM_UP; n < times; n += 1) {
    const from = performance.now();
    await act();
    if (n >= 0) took.push(performance.now() - from);
  }
  return summarize(took);
}

/** @throws When the answer is another one than was asked for. */
async function ask(where: RequestOptions, expected: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const sent = request(where, (answer) => {
    let text = '';
    answer.setEncoding('utf8');
    answer.on('data', (piece: string) => {
      text += piece;
    });
    answer.once('end', () => {
      if (answer.statusCode === 200 && text.includes(expected)) resolve();
      else reject(new Error(`answered ${answer.statusCode}`));
    });
  });
  sent.once('error', reject);
  sent.end();
  await promise;
}
