/**
 * The identity provider under control of a test, as a deployment's: every subject can sign in there.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeIdp, startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { freePort } from '@sallyport/testing/wire/ports';
import type { FleetIdp } from '../wire/fleet.ts';
import { signInOf } from '../wire/logout-token.ts';
import { WEB_CLIENT_ID, WEB_CLIENT_SECRET } from '../wire/platform.ts';
import { temporaryFolder } from '../wire/process.ts';

/** The IdP with what a fleet needs to use it. */
export interface AttackedFleetIdp extends FleetIdp {
  readonly attacker: FakeIdp;
  close(): Promise<void>;
}

/** Starts it. */
export async function startAttackedFleetIdp(): Promise<AttackedFleetIdp> {
  const attacker = await startFakeIdp(WEB_CLIENT_ID);
  const folder = temporaryFolder();
  const secretFile = join(folder.path, 'oidc_client_secret');
  writeFileSync(secretFile, WEB_CLIENT_SECRET, { mode: 0o600 });
  const publicUrl = `http://localhost:${await freePort()}`;
  return {
    attacker,
    publicUrl,
    environment: {
      PUBLIC_URL: publicUrl,
      OIDC_BASE_URL: attacker.issuer,
      OIDC_CLIENT_ID: WEB_CLIENT_ID,
      CLI_CLIENT_ID: 'cli-client',
      OIDC_CLIENT_SECRET_FILE: secretFile,
    },
    async signIn(browser, address, login = 'ada') {
      const sent = await browser.step(address);
      const query = attacker.authorize(sent.location ?? '', signInOf(login));
      return browser.step(`${publicUrl}/callback?${query}`);
    },
    async close() {
      await attacker.close();
      folder.remove();
    },
  };
}
