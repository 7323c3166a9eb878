/**
 * Signing in with a device code, without the seconds between two questions for the token.
 *
 * @module
 */

import type { MovedClock } from '../wire/moved-clock.ts';
import type { Ended } from './command.ts';
import type { FakePlatform } from './fake-platform.ts';

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
