import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Browser } from '../wire/browser.ts';
import { type Service, startService } from '../wire/platform.ts';
import { askMe } from '../wire/sign-in.ts';
import type { Ended } from './command.ts';
import { home, useHome } from './fixture.ts';
import {
  ADA,
  CHROME,
  expectRefusedSoon,
  FIREFOX,
  GRACE,
  idOf,
  type ListDocument,
  signIn,
  variables,
} from './operator.ts';
import { hasTerminal, startOnTerminal } from './screen.ts';

useHome();
let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
afterEach(() => run('revoke', '--all', '--yes'));

const run = (...args: string[]): Promise<Ended> =>
  home.run(['sessions', ...args], variables(service));
const list = async (): Promise<ListDocument> =>
  JSON.parse((await run('list', '--json')).stdout) as ListDocument;

function auditLines(stderr: string): readonly Readonly<Record<string, unknown>>[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('sallyport sessions revoke, beside a running server', () => {
  it('ends one session: refused by the server within a second although it was remembered, and after a restart; another of the same person stands', async () => {
    const ada = await signIn(service, ADA, FIREFOX);
    const other = await signIn(service, ADA, CHROME);
    const { code, stdout, stderr } = await run('revoke', idOf(ada));
    await expectRefusedSoon(service, ada);
    expect(await askMe(service, other)).toBe(200);
    expect([code, stdout]).toEqual([
      0,
      `ended  ${idOf(ada)}  ada@example.test  127.0.0.1  Firefox 140 on Linux\n`,
    ]);
    expect(stderr).toContain('1 session ended; running servers refuse it within a second.');
    expect((await list()).sessions.map(({ id }) => id)).toEqual([idOf(other)]);
    await service.running.kill();
    service = await service.restart();
    expect([await askMe(service, ada), await askMe(service, other)]).toEqual([401, 200]);
  });

  it('ends several sessions by their ids, and no other', async () => {
    const ada = await signIn(service, ADA, FIREFOX);
    const grace = await signIn(service, GRACE, CHROME);
    const other = await signIn(service, GRACE, FIREFOX);
    const { code } = await run('revoke', idOf(ada), idOf(grace));
    expect(code).toBe(0);
    for (const browser of [ada, grace]) await expectRefusedSoon(service, browser);
    expect(await askMe(service, other)).toBe(200);
  });

  it('--subject ends every session of that subject, in whichever browser, and no other', async () => {
    const adas = [await signIn(service, ADA, FIREFOX), await signIn(service, ADA, CHROME)];
    const grace = await signIn(service, GRACE, CHROME);
    const { code, stdout } = await run('revoke', '--subject', 'ada', '--json');
    for (const browser of adas) await expectRefusedSoon(service, browser);
    expect(await askMe(service, grace)).toBe(200);
    const { ok, ended } = JSON.parse(stdout) as { ok: boolean; ended: { id: string }[] };
    expect([code, ok]).toEqual([0, true]);
    expect(ended.map(({ id }) => id).toSorted()).toEqual(adas.map(idOf).toSorted());
  });

  it('--subject ends nothing of the same subject at another issuer', async () => {
    const ada = await signIn(service, ADA, FIREFOX);
    const elsewhere = ['--subject', 'ada', '--issuer', 'https://other.example'];
    const { code, stdout, stderr } = await run('revoke', ...elsewhere);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('No session was ended.');
    expect(await askMe(service, ada)).toBe(200);
  });

  it('--all --yes ends the sessions of all people, and then no session is left', async () => {
    const browsers = [await signIn(service, ADA, FIREFOX), await signIn(service, GRACE, CHROME)];
    const { code, stdout } = await run('revoke', '--all', '--yes');
    for (const browser of browsers) await expectRefusedSoon(service, browser);
    expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 2]);
    const again = await run('revoke', '--all', '--yes');
    expect(again).toEqual({ code: 0, stdout: '', stderr: 'There were no sessions.\n' });
    const listed = await run('list');
    expect(listed).toEqual({ code: 0, stdout: '', stderr: 'There are no sessions.\n' });
    expect((await list()).sessions).toEqual([]);
  });

  it('--all without --yes and without a terminal ends nothing', async () => {
    const ada = await signIn(service, ADA, FIREFOX);
    const { code, stderr } = await run('revoke', '--all');
    expect([code, await askMe(service, ada)]).toEqual([2, 200]);
    expect(stderr).toContain('--all needs --yes');
  });

  it('reports an id that is unknown with code 1, and ends the others', async () => {
    const ada = await signIn(service, ADA, FIREFOX);
    const { code, stdout, stderr } = await run('revoke', 'AAAAAAAA', idOf(ada));
    expect(code).toBe(1);
    expect(stderr).toContain('there is no such session: AAAAAAAA');
    expect(stdout).toContain(`ended  ${idOf(ada)}`);
    await expectRefusedSoon(service, ada);
  });

  it('reports an id that has ended already with code 0', async () => {
    const ada = await signIn(service, ADA, FIREFOX);
    await run('revoke', idOf(ada));
    const { code, stdout, stderr } = await run('revoke', idOf(ada));
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain(`${idOf(ada)} has ended already: it was revoked.`);
  });

  it('takes an id that begins with a dash for an id', async () => {
    await signIn(service, ADA, FIREFOX);
    const read = await run('revoke', '-habcdef', '--abcdef');
    expect([read.code, read.stdout]).toEqual([1, '']);
    expect(read.stderr).toContain('there is no such session: -habcdef, --abcdef');
    const behind = await run('revoke', '--', '-Vabcdef');
    expect([behind.code, behind.stdout]).toEqual([1, '']);
    expect(behind.stderr).toContain('there is no such session: -Vabcdef');
  });

  it('says how to give an id that begins like the flag of the version, and does not end with code 0', async () => {
    const { code, stdout, stderr } = await run('revoke', '-Vabcdef');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('put "--" before a session id that begins with "-V"');
    expect(await run('--version')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^\d+\.\d+\.\d+\nNode v\d+\.\d+\.\d+\n(?:run from a checkout|built from .+)\n$/,
      ) as string,
    });
  });

  it('writes the audit line of each ended session to stderr, and with --json one document to stdout', async () => {
    const ada = await signIn(service, ADA, FIREFOX);
    const [row] = (await list()).sessions;
    const { stdout, stderr } = await run('revoke', idOf(ada), '--json');
    expect(JSON.parse(stdout)).toMatchObject({ ok: true });
    expect(auditLines(stderr)).toEqual([
      expect.objectContaining({
        level: 'audit',
        event: 'session_ended',
        reason: 'session_revoked',
        by: 'operator',
        operator: expect.stringMatching(/./) as string,
        issuer: service.idp.issuer,
        subject: 'ada',
        session: row?.id,
        address: null,
        browser: null,
        request_id: null,
      }),
    ]);
    // The server's own line about the same session has the same name.
    expect(service.running.stderr()).toContain(`"session":"${row?.id}"`);
    const unknown = await run('revoke', 'AAAAAAAA', '--json');
    expect(JSON.parse(unknown.stdout)).toMatchObject({ ok: false, error: 'session_unknown' });
    expect(auditLines(unknown.stderr)).toEqual([]);
  });

  it('reports, when the store cannot be written, which ids are in an unknown state and which were not touched, and nothing else', async () => {
    const ada = await signIn(service, ADA, FIREFOX);
    const grace = await signIn(service, GRACE, CHROME);
    const holder = new DatabaseSync(join(service.state, 'sessions.sqlite'));
    holder.exec('BEGIN IMMEDIATE');
    const { code, stdout, stderr } = await run('revoke', idOf(ada), idOf(grace));
    const json = await run('revoke', idOf(ada), idOf(grace), '--json');
    holder.exec('ROLLBACK');
    holder.close();
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('SP_STORE_UNAVAILABLE');
    expect(stderr).toContain(`It is not known whether these have ended: ${idOf(ada)}\n`);
    expect(stderr).toContain(`These were not touched: ${idOf(grace)}\n`);
    expect(auditLines(stderr)).toEqual([]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      error: 'SP_STORE_UNAVAILABLE',
      ended: [],
      unclear: [idOf(ada)],
      untouched: [idOf(grace)],
    });
    expect([await askMe(service, ada), await askMe(service, grace)]).toEqual([200, 200]);
    expect((await run('revoke', idOf(ada), idOf(grace))).code).toBe(0);
  });
});

describe.skipIf(!hasTerminal())(
  "sallyport sessions revoke on a terminal (needs util-linux's script)",
  () => {
    let ada: Browser;
    let grace: Browser;
    beforeEach(async () => {
      ada = await signIn(service, ADA, FIREFOX);
      grace = await signIn(service, GRACE, CHROME);
    });
    const onTerminal = (...args: string[]) =>
      startOnTerminal(home, ['sessions', 'revoke', ...args], variables(service));
    const QUESTION = 'End all 2 sessions? Everybody has to sign in again. [y/N]';

    it.each([
      ['no', 'n\n', 1],
      ['Enter alone', '\n', 1],
      ['Ctrl-D', '\u0004', 1],
      ['Ctrl-C', '\u0003', 130],
    ])('--all asks, and %s ends nothing', async (_, keys, expected) => {
      const asking = onTerminal('--all');
      await asking.shows(QUESTION);
      asking.type(keys);
      expect((await asking.ended).code).toBe(expected);
      expect([await askMe(service, ada), await askMe(service, grace)]).toEqual([200, 200]);
    });

    it('--all ends all once that is confirmed, and reports it in lines for a person', async () => {
      const asking = onTerminal('--all');
      await asking.shows(QUESTION);
      asking.type('y\n');
      const { code, screen } = await asking.ended;
      expect(code).toBe(0);
      for (const browser of [ada, grace]) {
        expect(screen).toContain(`ended  ${idOf(browser)}`);
        await expectRefusedSoon(service, browser);
      }
      expect(screen).toContain('2 sessions ended; running servers refuse them within a second.');
      expect(screen).not.toContain('{');
    });

    it('--all --yes does not ask', async () => {
      const { code, screen } = await onTerminal('--all', '--yes').ended;
      expect([code, screen.includes('[y/N]')]).toEqual([0, false]);
      for (const browser of [ada, grace]) await expectRefusedSoon(service, browser);
    });
  },
);
