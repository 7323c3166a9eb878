/**
 * `sallyport token` from a store that holds a good token: what a credential helper waits for.
 *
 * @module
 */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { makeHome } from '../conformance/cli/command.ts';
import { browserCommand } from '../conformance/cli/scripted-browser.ts';
import { startPlane } from '../conformance/wire/platform.ts';
import { holdRedirectPort } from '../conformance/wire/redirect-port.ts';
import { median } from './server-under-load.ts';

const ROUNDS = 25;
const COMMAND = new URL('../packages/cli/bin/sallyport.js', import.meta.url).pathname;

/** Prints how long it takes, beside `node -e 0`, which is as fast as any command can be. */
export async function benchTokenCommand(): Promise<void> {
  const giveBack = await holdRedirectPort();
  const plane = await startPlane();
  const home = makeHome();
  const passwords = join(plane.state, 'idp', 'passwords');
  const browser = browserCommand(join(home.path, 'record'), 'ada', passwords);
  const login = await home.run(['login', '--endpoint', plane.url, '--browser', browser]);
  await plane.stop();
  await giveBack();
  if (login.code !== 0) throw new Error(`the sign-in failed: ${login.stderr}`);

  const time = (args: readonly string[]): number => {
    const startedAt = performance.now();
    const { status } = spawnSync(process.execPath, args, { cwd: home.path, env: home.environment });
    if (status !== 0) throw new Error(`ended with ${status}`);
    return performance.now() - startedAt;
  };
  const times: { token: number; node: number }[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const [token, node] = [time([COMMAND, 'token']), time(['-e', '0'])];
    // The first round fills the caches.
    if (round > 0) times.push({ token, node });
  }
  const token = times.map((each) => each.token);
  console.log(
    `sallyport token: median ${median(token).toFixed(0)} ms, slowest ${Math.max(...token).toFixed(0)} ms (wanted: under 150 ms); node itself: median ${median(times.map(({ node }) => node)).toFixed(0)} ms`,
  );
  home.remove();
}
