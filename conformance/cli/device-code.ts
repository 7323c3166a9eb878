/**
 * Signing in with a device code, without the seconds between two questions for the token.
 *
 * @module
 */

import { Browser } from '../wire/browser.ts';
import type { MovedClock } from '../wire/moved-clock.ts';
import type { Plane } from '../wire/platform.ts';
import type { Ended, Home } from './command.ts';
import type { FakePlatform } from './fake-platform.ts';

/** Time between two questions for the token that an IdP asks for (RFC 8628 section 3.2). */
const POLL_MS = 5_000;
const STEPS_MAX = 4;

/**
 * Moves the clock of a command until it has asked for the token as often as the platform makes it ask.
 *
 * @param clock - Followed by the command, timers too.
 */
export async function withoutPauses(
  clock: MovedClock,
  platform: FakePlatform,
  command: () => Promise<Ended>,
): Promise<Ended> {
  const begun = platform.nextRequest('/device');
  const enough = platform.count('/token') + platform.pollsUntilConfirmed + 1;
  const ended = command();
  let isOver = false;
  const note = () => {
    isOver = true;
  };
  void ended.then(note);
  await Promise.race([begun, ended]);
  while (!isOver && platform.count('/token') < enough) await clock.advance(1_000);
  return ended;
}

/**
 * Signs in at the whole plane with a code that a person confirms in a browser elsewhere. The command is a process of its
 * own, and needs no redirect URI.
 */
export async function signInByDevice(
  home: Home,
  plane: Plane,
  login: 'ada' | 'grace',
  clock: MovedClock,
): Promise<Ended> {
  const args = ['login', '--endpoint', plane.url, '--flow', 'device'];
  const under = home.start(args, clock.environment);
  const said = await under.says('waiting until the code');
  const person = new Browser();
  let page = await person.visit(/^ {2}(http\S+)$/m.exec(said)?.[1] ?? '');
  const fields = { login, password: plane.password(login) };
  for (let steps = 0; steps < STEPS_MAX && /<form/i.test(page.body); steps += 1)
    page = await person.submit(page, fields);
  await clock.advance(POLL_MS);
  return under.ended;
}
