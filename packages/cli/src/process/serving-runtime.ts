/**
 * A setting of the runtime for a process that serves, made once it has loaded what it serves with.
 *
 * @module
 */

import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';

/**
 * Has no code allocate among what lives long because of what was allocated before: a compiler that has seen the first
 * sessions being remembered would do so for all later ones, which takes 5 to 9 MiB and a sixth of the requests.
 *
 * Not an option of the command line: compiled code counts for one set of options alone, so the runtime would compile
 * its own modules at each start, which takes 30 ms and a mebibyte. What is loaded after this is compiled each time; what
 * was loaded before is written to the folder for compiled code first, where a later start finds it valid.
 *
 * @see [v8.setFlagsFromString](https://nodejs.org/api/v8.html#v8setflagsfromstringflags)
 */
export function prepareToServe(): void {
  flushCompileCache();
  setFlagsFromString('--no-allocation-site-pretenuring');
}
