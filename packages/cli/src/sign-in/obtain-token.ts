/**
 * A token by whatever it takes, when none is at hand.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Interruption } from '../process/interruption.ts';
import type { Sources } from '../profile/sources.ts';
import { type Failure, loginRequiredFailure, toFailure } from '../terminal/report.ts';
import type { Stdio } from '../terminal/stdio.ts';
import { openPlatform } from './open-platform.ts';
import { signIn } from './sign-in-here.ts';
import type { FoundToken } from './warm-token.ts';

/** How far to go. */
export interface ObtainOptions {
  /** How long the token must still live; the configured window when absent. */
  readonly minTtlMs: number | undefined;
  /** Whether a person may be asked, if there is one. */
  readonly mayAsk: boolean;
  readonly stdio: Stdio;
  readonly interruption: Interruption;
}

/**
 * Obtains a token: store, refresh, credentials; then, where a person can be asked, by signing in.
 *
 * @throws {SallyportError} When platform or identity provider cannot be reached.
 */
export async function obtainToken(
  sources: Sources,
  { minTtlMs, mayAsk, stdio, interruption }: ObtainOptions,
): Promise<Result<FoundToken, Failure>> {
  const opened = await openPlatform(sources, stdio);
  if (!opened.ok) return opened;
  const platform = opened.value;
  const { signal } = interruption;
  const known = (await platform.readCachedLogin()) ?? (await platform.discover(signal));
  const got = await known.client.tokenSource.get({
    signal,
    ...(minTtlMs === undefined ? {} : { minTtlMs }),
  });
  if (got.ok) {
    await platform.writeCachedLogin(known, []);
    return accept({ tokens: got.value, header: known.header });
  }
  if (got.error.error !== 'login_required' || !platform.isPersonal)
    return refuse(toFailure(got.error));
  if (!mayAsk)
    return refuse(loginRequiredFailure('not signed in', platform.endpoint, platform.loginCommand));
  const discovered = await platform.discover(signal);
  const signedIn = await signIn(platform, discovered, { flow: 'auto' }, stdio, interruption);
  if (!signedIn.ok) return signedIn;
  for (const notice of signedIn.value.notices) stdio.error(notice);
  await platform.writeCachedLogin(discovered, []);
  return accept({ tokens: signedIn.value.tokens, header: discovered.header });
}
