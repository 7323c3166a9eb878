import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Home, makeHome } from '../../conformance/cli/command.ts';
import { hasTerminal, type OnTerminal, startOnTerminal } from '../../conformance/cli/screen.ts';
import { KEYCLOAK } from './keycloak-part.ts';
import { makeRealm, type Realm } from './realm.ts';

const PUBLIC_URL = 'https://platform.example.com';
const END_OF_INPUT = '\u0004';
const CTRL_C = '\u0003';
const COLUMNS = 160;

describe.skipIf(KEYCLOAK.isLeftOut || !hasTerminal())(
  "Keycloak: what sallyport idp asks (needs util-linux's script)",
  () => {
    let home: Home;
    let realm: Realm;
    beforeAll(async () => {
      home = makeHome();
      realm = await makeRealm();
    }, 400_000);
    afterAll(async () => {
      home.remove();
      await realm.remove();
    });

    const start = (command: string, ...args: readonly string[]): OnTerminal =>
      startOnTerminal(
        home,
        realm.words(command, PUBLIC_URL, ...args),
        { SALLYPORT_IDP_ADMIN_PASSWORD: realm.adminPassword },
        COLUMNS,
      );
    const applyQuestion = () => `Apply this to ${realm.issuer}? [y/N]`;
    const removeQuestion = () =>
      `Remove this from ${realm.issuer}? Sign-ins at the platform then fail. [y/N]`;

    it.each([
      ['no', 'n\r', 1],
      ['Enter alone', '\r', 1],
      ['another word', 'sure\r', 1],
      ['the end of the input', END_OF_INPUT, 1],
      ['Ctrl-C', CTRL_C, 130],
    ])('apply shows the plan and asks; %s changes nothing', async (_, typed, code) => {
      const before = await realm.snapshot();
      const asking = start('apply');
      expect(await asking.shows(applyQuestion())).toContain('to create, 0 to change');
      asking.type(typed);
      const ended = await asking.ended;
      expect(ended.code).toBe(code);
      if (code === 1) expect(ended.screen).toContain('nothing was changed.');
      expect(await realm.snapshot()).toBe(before);
      expect(readdirSync(realm.folder)).toEqual([]);
    });

    it('apply without a terminal and without --yes refuses', async () => {
      const before = await realm.snapshot();
      const { code, stderr } = await realm.idp('apply', PUBLIC_URL);
      expect([code, stderr]).toEqual([
        2,
        'sallyport: nothing was changed: there is no terminal to ask on\n  Read the plan, then give --yes.\n',
      ]);
      expect(await realm.snapshot()).toBe(before);
    });

    it('a realm that changes while the question stands is not what was agreed to: nothing is changed', async () => {
      const asking = start('apply');
      await asking.shows(applyQuestion());
      await realm.ask('/clients', 'POST', { clientId: 'sallyport-cli', publicClient: true });
      const before = await realm.snapshot();
      asking.type('y\r');
      const { code, screen } = await asking.ended;
      expect([code, screen]).toEqual([1, expect.stringContaining('another application')]);
      expect(await realm.snapshot()).toBe(before);
      const [made] = (await realm.ask('/clients?clientId=sallyport-cli')) as { id: string }[];
      await realm.ask(`/clients/${made?.id}`, 'DELETE');
    });

    it('yes applies', async () => {
      const asking = start('apply');
      await asking.shows(applyQuestion());
      asking.type('yes\r');
      const { code, screen } = await asking.ended;
      expect([code, screen]).toEqual([0, expect.stringContaining(`applied to ${realm.issuer}`)]);
      expect((await realm.idp('check', PUBLIC_URL)).code).toBe(0);
    });

    it('with nothing to change apply asks nothing', async () => {
      const { code, screen } = await start('apply').ended;
      expect([code, screen.includes('[y/N]')]).toEqual([0, false]);
    });

    it.each([
      ['no', 'n\r'],
      ['the end of the input', END_OF_INPUT],
    ])('destroy says what it removes and what then fails; %s removes nothing', async (_, typed) => {
      const before = await realm.snapshot();
      const asking = start('destroy');
      const screen = await asking.shows(removeQuestion());
      for (const name of ['sallyport-web', 'sallyport-cli', 'sallyport-service'])
        expect(screen).toContain(`- client ${name}`);
      asking.type(typed);
      expect((await asking.ended).code).toBe(1);
      expect(await realm.snapshot()).toBe(before);
    });

    it('destroy without a terminal and without --yes refuses', async () => {
      const before = await realm.snapshot();
      const { code, stderr } = await realm.idp('destroy', PUBLIC_URL);
      expect([code, stderr]).toEqual([2, expect.stringContaining('give --yes')]);
      expect(await realm.snapshot()).toBe(before);
    });

    it('destroy after yes removes', async () => {
      const asking = start('destroy');
      await asking.shows(removeQuestion());
      asking.type('y\r');
      const { code, screen } = await asking.ended;
      expect([code, screen]).toEqual([0, expect.stringContaining(`removed from ${realm.issuer}`)]);
      expect((await realm.idp('destroy', PUBLIC_URL, '--yes')).stdout).toContain(
        'nothing to remove',
      );
    });
  },
);
