/**
 * Whether something on the way gives one caller the verdict of another.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { fail } from '../finding/finding.ts';
import { found, type Probe, skipped } from '../graph/probe.ts';
import { type Answer, type Ask, describeAnswer, locationOf } from '../network/exchange.ts';
import type { ObtainedToken } from './grants.ts';
import { makeUp } from './token-request.ts';

/** What is asked, and as whom. */
export interface SharedVerdictGround {
  readonly token: Probe<ObtainedToken>;
  /** The header that the platform reads. */
  readonly header: Probe<string>;
  readonly ready: Probe<URL>;
  /** Protected paths that were refused without a credential. */
  readonly closed: Probe<readonly string[]>;
  /** Has a value where the token may be shown to this platform. */
  readonly admission: Probe;
}

/**
 * Makes `proxy.verdicts`: a protected path with the service's own token, then at once with a made-up one, which `/me` refuses.
 *
 * Both requests carry one made-up cookie of this run, so that a verdict kept by the cookie is found by no other caller. A key
 * that lacks the cookie alone is not found: that takes two people. Nothing is decided where nothing is kept at the time.
 */
export function createSharedVerdictProbe(
  { token, header, ready, closed, admission }: SharedVerdictGround,
  ask: Ask,
): Probe {
  return {
    id: 'proxy.verdicts',
    group: 'proxy',
    title: 'verdicts that are kept on the way',
    needs: [token, header, ready, closed, admission],
    async run(answers) {
      const [path] = answers.get(closed);
      if (path === undefined) return skipped('no protected path is known that is closed');
      const name = answers.get(header);
      const url = answers.get(ready).origin + path;
      const cookie = `sallyport-doctor=${randomBytes(12).toString('hex')}`;
      const show = (bearer: string) =>
        ask(url, {
          headers: { [name]: `Bearer ${bearer}`, cookie, accept: 'application/json' },
        });
      const own = await show(answers.get(token).accessToken);
      if (!own.ok || !isAdmitted(own.value)) return skipped(`the token is not admitted to ${path}`);
      const other = await show(makeUp());
      if (!other.ok || !isAdmitted(other.value)) return found(undefined);
      return found(undefined, [
        fail(
          'verdict_shared',
          `a made-up token is admitted to ${path} right after a genuine one: an answer of /me is kept by a key without ${name}`,
          `Put ${name} and the cookie into the key of that cache (auth-cache-key, proxy_cache_key), or keep nothing; look for what ignores Cache-Control of /me.`,
          [describeAnswer(other.value), 'without a credential the path is refused'],
        ),
      ]);
    },
  };
}

/** Not refused as a caller; what a backend answers to those who are let in is its own. */
function isAdmitted(answer: Answer): boolean {
  const { status } = answer;
  return status !== 401 && status !== 403 && status < 500 && locationOf(answer) === undefined;
}
