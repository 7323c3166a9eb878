/**
 * Suite: the key ring is rotated again and again under load, and no request is refused because of it.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandHost, createCommandHost } from '../cli/command-host.ts';
import { Browser } from '../wire/browser.ts';
import type { DeploymentUnderTest } from './deployment.ts';
import { type RenewingDeployment, startRenewingDeployment } from './renewing-deployment.ts';
import { type Watch, watchSession } from './watch.ts';

const ROTATIONS = 12;
/** Workers read the same ring as processes of their own do. */
const ROTATIONS_OF_WORKERS = 6;
const SESSIONS = 6;
/** A new key seals after ten minutes, and by then every session is due. */
const STEP_MS = 10 * 60_000 + 1_000;
/** Between two questions about a session; the processor is for the processes. */
const PAUSE_MS = 10;
/** Answers that each process gives about each session between two rotations. */
const BETWEEN = 4;

interface Ring {
  readonly keys: readonly { readonly kid: string; readonly key: string }[];
}

/** Registers the suite. */
export function testKeyRotation(
  under: DeploymentUnderTest,
  rotations: number = under.hasWorkers === true ? ROTATIONS_OF_WORKERS : ROTATIONS,
): void {
  describe(`The key ring rotated ${rotations} times under load (${under.name})`, () => {
    let deployment: RenewingDeployment;
    let host: CommandHost;
    let cookies: readonly string[];
    const ringFile = () => join(deployment.state, 'key-ring.json');
    const readRing = () => JSON.parse(readFileSync(ringFile(), 'utf8')) as Ring;

    beforeAll(async () => {
      deployment = await startRenewingDeployment(under);
      host = createCommandHost(deployment.clock);
      const signIns = Array.from({ length: SESSIONS }, () => new Browser());
      cookies = await Promise.all(
        signIns.map((browser, at) => deployment.signIn(browser, at % 2 === 0 ? 'ada' : 'grace')),
      );
    });
    afterAll(() => {
      host.stop();
      return deployment.stop();
    });

    it('0 refusals, 0 undecided; every session is renewed on the way and sealed anew', async () => {
      const { host } = new URL(deployment.publicUrl);
      const watches: Watch[] = [];
      for (const cookie of cookies)
        for (const index of deployment.indexes)
          watches.push(
            await deployment.through(index, (url) => watchSession(url, cookie, host, PAUSE_MS)),
          );
      const kids = new Set(readRing().keys.map(({ kid }) => kid));
      for (let rotation = 1; rotation <= rotations; rotation += 1) {
        kids.add(await rotate());
        await deployment.clock.advance(STEP_MS);
        await Promise.all(watches.map((each) => each.more(BETWEEN)));
        await deployment.renewed(rotation * SESSIONS);
      }
      await Promise.all(watches.map((each) => each.stop()));
      const statuses = watches.flatMap(({ answers }) => answers.map(({ status }) => status));
      expect(statuses.length).toBeGreaterThanOrEqual(watches.length * rotations * BETWEEN);
      expect(new Set(statuses)).toEqual(new Set([200]));
      expect(kids.size).toBe(rotations + 1);
      expect(deployment.endings()).toEqual([]);
      const tokens = deployment.idp.seenRefreshes().map(({ form }) => form.get('refresh_token'));
      expect(new Set(tokens).size).toBe(tokens.length);
      for (const event of ['verdict_undecided', 'renewal_failed', 'key_ring_unreadable'])
        expect(deployment.log(event)).toEqual([]);
    });

    it('what was sealed last needs none of the older keys; with a key that sealed nothing every session is refused', async () => {
      const [newest] = readRing().keys.slice(-1);
      await useRing({ keys: newest === undefined ? [] : [newest] });
      for (const cookie of cookies)
        expect(await deployment.verdicts(cookie)).toEqual(deployment.indexes.map(() => '200'));

      const foreign = { ...newest, kid: 'AAAAAAAA', key: randomBytes(32).toString('base64url') };
      await useRing({ keys: [foreign] });
      for (const cookie of cookies)
        expect(await deployment.verdicts(cookie)).toEqual(
          deployment.indexes.map(() => '401 session_unknown'),
        );
    });

    async function useRing(ring: unknown): Promise<void> {
      writeFileSync(ringFile(), JSON.stringify(ring));
      // The file is looked at once a second.
      await deployment.clock.advance(1_000);
    }

    /** Runs the command as an operator does; returns the new key's id. */
    async function rotate(): Promise<string> {
      const { idp, state } = deployment;
      const { HOME = '' } = process.env;
      const environment = { ...idp.environment, HOME, SALLYPORT_STATE_DIRECTORY: state };
      const { code, stdout } = await host.run(['rotate-keys', '--json'], environment, state);
      expect(code).toBe(0);
      return (JSON.parse(stdout) as { readonly kid: string }).kid;
    }
  });
}
