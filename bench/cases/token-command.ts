/**
 * `sallyport token` from a store that holds a good token: what a credential helper waits for.
 *
 * @module
 */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { makeHome } from '../../conformance/cli/command.ts';
import { browserCommand } from '../../conformance/cli/scripted-browser.ts';
import { startPlane } from '../../conformance/wire/platform.ts';
import { holdRedirectPort } from '../../conformance/wire/redirect-port.ts';
import type { BenchCase } from '../bench-case.ts';
import { summarize } from '../load/statistics.ts';
import { judge } from '../report/report.ts';
import { COMMAND } from '../servers/sallyport.ts';

const TIMES = 25;
const TIMES_QUICK = 5;
const WANTED_MS = 150;

/** Beside `node -e 0`, which is as fast as any command can be. */
export const TOKEN_COMMAND: BenchCase = {
  name: 'token-command',
  title: '`sallyport token` with a good token in its store',
  needs: ['taskset'],
  async run({ ends, isQuick, say }) {
    ends.add(await holdRedirectPort());
    const plane = await startPlane();
    ends.add(() => plane.stop());
    const home = makeHome();
    ends.add(() => home.remove());
    const passwords = join(plane.state, 'idp', 'passwords');
    const browser = browserCommand(join(home.path, 'record'), 'ada', passwords);
    const login = await home.run(['login', '--endpoint', plane.url, '--browser', browser]);
    if (login.code !== 0) throw new Error(`the sign-in failed: ${login.stderr}`);

    const time = (args: readonly string[]): number => {
      const startedAt = performance.now();
      const { status } = spawnSync(process.execPath, args, {
        cwd: home.path,
        env: home.environment,
      });
      if (status !== 0) throw new Error(`ended with ${status}`);
      return performance.now() - startedAt;
    };
    const times: { readonly token: number; readonly node: number }[] = [];
    for (let n = 0; n <= (isQuick ? TIMES_QUICK : TIMES); n += 1) {
      const each = { token: time([COMMAND, 'token']), node: time(['-e', '0']) };
      // The first round fills the caches.
      if (n > 0) times.push(each);
    }
    const [token, node] = (['token', 'node'] as const).map((key) =>
      summarize(times.map((each) => each[key])),
    );
    if (token === undefined || node === undefined) throw new Error('nothing was measured');
    say(
      `  sallyport token ${token.median.toFixed(0)} ms, node itself ${node.median.toFixed(0)} ms`,
    );
    return {
      notes: [],
      measured: [],
      findings: [
        judge('time of `sallyport token`', 'ms', token, 'below', WANTED_MS),
        { text: 'time of `node -e 0`', unit: 'ms', value: node },
      ],
    };
  },
};
