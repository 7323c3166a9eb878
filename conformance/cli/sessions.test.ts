import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from '../wire/browser.ts';
import { type Service, startHostedService } from '../wire/platform.ts';
import { askMe } from '../wire/sign-in.ts';
import type { Ended } from './command.ts';
import { home, useHome } from './fixture.ts';
import {
  ADA,
  CHROME,
  cookieOf,
  FIREFOX,
  GRACE,
  idOf,
  type ListDocument,
  ringKeys,
  signIn,
  variables,
} from './operator.ts';
import { hasTerminal, startOnTerminal } from './screen.ts';

useHome();

let service: Service;
beforeAll(async () => {
  service = await startHostedService();
});
afterAll(() => service.stop());
const run = (...args: string[]): Promise<Ended> =>
  home.run(['sessions', ...args], variables(service));
/** The server is one for all: none of these is found by those that come after. */
const endAll = (): Promise<Ended> => run('revoke', '--all', '--yes');

const HOSTILE = {
  sub: 'eve',
  preferred_username: '\u001b]0;x\u0007\u202Egnp.\u001b[31mexe',
};
const HOSTILE_BROWSER = 'Evil\u009b2J\u009b31m/1.0 \u00ad\u0085';
const COMMAND_TO_A_TERMINAL = /[\p{Cc}\p{Cf}]/u;

describe('sallyport sessions list', () => {
  let ada: Browser;
  let grace: Browser;
  let startedAt: number;
  beforeAll(async () => {
    startedAt = Date.now();
    ada = await signIn(service, ADA, FIREFOX);
    grace = await signIn(service, GRACE, CHROME);
  });
  afterAll(endAll);
  const list = async (...args: string[]): Promise<ListDocument> =>
    JSON.parse((await run('list', '--json', ...args)).stdout) as ListDocument;

  it('--json shows who is signed in, since when, until when, from which address and browser', async () => {
    const { ok, sessions, more } = await list();
    expect([ok, more]).toEqual([true, false]);
    // The one used last first.
    expect(sessions.map(({ id }) => id)).toEqual([idOf(grace), idOf(ada)]);
    const [graces, adas] = sessions;
    expect(adas).toMatchObject({
      issuer: service.idp.issuer,
      subject: 'ada',
      email: 'ada@example.test',
      name: 'Ada Lovelace',
      address: '127.0.0.1',
      browser: FIREFOX,
    });
    expect([graces?.browser, graces?.preferred_username]).toEqual([CHROME, 'grace']);
    const signedInAt = Date.parse(graces?.signed_in_at ?? '');
    const lastUsedAt = Date.parse(graces?.last_used_at ?? '');
    expect(signedInAt).toBeGreaterThanOrEqual(startedAt);
    expect(lastUsedAt).toBeGreaterThanOrEqual(signedInAt);
    expect(Date.parse(graces?.ends_at ?? '') - lastUsedAt).toBe(12 * 3_600_000);
    expect(Date.parse(graces?.absolute_end ?? '') - signedInAt).toBe(7 * 86_400_000);
  });

  it('writes a line for each session into a pipe, with tabs, and its summary to stderr', async () => {
    const { code, stdout, stderr } = await run('list');
    expect([code, stderr]).toEqual([0, '2 sessions of 2 people.\n']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => line.split('\t')[0])).toEqual([idOf(grace), idOf(ada)]);
    expect(lines[1]?.split('\t').slice(4)).toEqual([
      'ada@example.test',
      'ada',
      service.idp.issuer,
      '127.0.0.1',
      FIREFOX,
    ]);
  });

  it('--subject shows that subject alone', async () => {
    expect((await list('--subject', 'ada')).sessions.map(({ id }) => id)).toEqual([idOf(ada)]);
  });

  it('--subject shows nothing of the same subject at another issuer', async () => {
    const elsewhere = ['--subject', 'ada', '--issuer', 'https://other.example'];
    const { code, stdout, stderr } = await run('list', ...elsewhere);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('This subject has no session');
  });

  it('says that there are more than --limit', async () => {
    const one = await list('--limit', '1');
    expect([one.sessions.map(({ id }) => id), one.more]).toEqual([[idOf(grace)], true]);
    const { stderr } = await run('list', '--limit', '1');
    expect(stderr).toBe('The 1 session used last, of 2; see --limit.\n');
  });

  it.each([
    [['revoke', 'too-short']],
    [['revoke', 'AAAAAAAA', 'not an id']],
    [['revoke']],
    [['revoke', 'AAAAAAAA', '--all']],
    [['revoke', '--subject', 'ada', '--all', '--yes']],
    [['revoke', '--all', '--yes', '--issuer', 'https://idp.example']],
    [['revoke', '--all']],
    [['list', '--issuer', 'https://idp.example']],
    [['list', '--limit', '0']],
    [['list', '--limit', 'many']],
    [['list', '--bogus']],
    [[]],
  ])('sessions %j is not understood: code 2, help, and nothing is ended', async (args) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/--help/);
    expect([await askMe(service, ada), await askMe(service, grace)]).toEqual([200, 200]);
  });

  it('sessions alone shows its commands', async () => {
    expect((await run()).stderr).toMatch(/list \[options\][\s\S]+revoke \[options\]/);
  });

  describe.skipIf(!hasTerminal())("on a terminal (needs util-linux's script)", () => {
    const show = (columns: number) =>
      startOnTerminal(home, ['sessions', 'list'], variables(service), columns).ended;

    it('is one line a session where it fits', async () => {
      const { code, screen } = await show(140);
      const lines = screen.split('\n');
      expect(code).toBe(0);
      expect(lines[0]?.split(/ {2,}/)).toEqual(
        'ID,WHO,SUBJECT,SIGNED IN (UTC),LAST USED,ENDS,ADDRESS,BROWSER'.split(','),
      );
      expect(lines[1]).toMatch(new RegExp(`^${idOf(grace)}  grace .* Chrome 138 on Windows$`));
      expect(lines[2]).toMatch(new RegExp(`^${idOf(ada)}  ada@example.test +ada `));
      expect(lines[2]).toMatch(/ just now +in 1[12]h +127\.0\.0\.1 +Firefox 140 on Linux$/);
      expect(lines[3]).toBe('2 sessions of 2 people.');
    });

    it.each([80, 60, 40])('is on %i columns cut nowhere, and no line is wider', async (columns) => {
      const { screen } = await show(columns);
      expect(screen.split('\n').filter((line) => line.length > columns)).toEqual([]);
      for (const text of [
        ...[idOf(ada), idOf(grace), 'ada@example.test', '127.0.0.1'],
        ...['Firefox 140 on Linux', 'Chrome 138 on Windows'],
      ])
        expect(screen).toContain(text);
      expect(screen).not.toContain('…');
    });
  });
});

describe('Text of a browser or the identity provider', () => {
  let eve: Browser;
  beforeAll(async () => {
    eve = await signIn(service, HOSTILE, HOSTILE_BROWSER);
  });
  afterAll(endAll);

  it('reaches a pipe with nothing in it that a terminal obeys', async () => {
    const { stdout } = await run('list');
    expect(stdout).toContain('Evil 2J 31m/1.0');
    expect(stdout.replaceAll(/[\t\n]/g, '')).not.toMatch(COMMAND_TO_A_TERMINAL);
  });

  it('reaches a program as it was stored, and escaped', async () => {
    const { stdout } = await run('list', '--json');
    expect(stdout.trimEnd()).not.toMatch(COMMAND_TO_A_TERMINAL);
    const [session] = (JSON.parse(stdout) as ListDocument).sessions;
    expect(session?.preferred_username).toBe(HOSTILE.preferred_username);
    expect(session?.browser).toBe(HOSTILE_BROWSER.trimEnd());
  });

  it.skipIf(!hasTerminal())(
    "reaches a terminal with nothing in it that it obeys (needs util-linux's script)",
    async () => {
      const onTerminal = startOnTerminal(home, ['sessions', 'list'], variables(service), 140);
      await onTerminal.ended;
      expect(onTerminal.raw()).toContain('Evil 2J 31m/1.0');
      expect(onTerminal.raw().replaceAll('\r\n', '')).not.toMatch(COMMAND_TO_A_TERMINAL);
    },
  );

  it('reaches the line about its ended session no differently', async () => {
    const { stdout } = await run('revoke', idOf(eve));
    expect(stdout).toContain('Evil 2J 31m/1.0');
    expect(stdout.trimEnd()).not.toMatch(COMMAND_TO_A_TERMINAL);
  });
});

describe('No secret in what sallyport sessions says', () => {
  const sinks: { readonly name: string; readonly text: string }[] = [];
  const secrets = new Map<string, string>();
  beforeAll(async () => {
    const browsers = [
      await signIn(service, ADA, FIREFOX),
      await signIn(service, ADA, CHROME),
      await signIn(service, GRACE, CHROME),
    ];
    for (const [index, browser] of browsers.entries())
      secrets.set(`cookie secret ${index}`, cookieOf(browser).slice(9));
    for (const key of ringKeys(service)) secrets.set('sealing key', key);
    secrets.set('access tokens', 'access-token-of-');
    secrets.set('refresh tokens', 'refresh-token-of-');
    const [ada, other] = browsers;
    if (ada === undefined || other === undefined) return;
    for (const args of [
      ['list'],
      ['list', '--json'],
      ['list', '--subject', 'ada'],
      ['revoke', cookieOf(ada)],
      ['revoke', `-${cookieOf(ada).slice(1)}`],
      ['revoke', cookieOf(ada), '--json'],
      ['revoke', idOf(ada), 'AAAAAAAA'],
      ['revoke', idOf(other), '--json'],
      ['revoke', '--subject', 'grace'],
      ['revoke', '--all', '--yes'],
    ]) {
      const { stdout, stderr } = await run(...args);
      const [name] = args;
      sinks.push({ name: `${name} on stdout`, text: stdout });
      sinks.push({ name: `${name} on stderr`, text: stderr });
    }
  });

  const findLeaks = (from: typeof sinks): string[] =>
    from.flatMap(({ name, text }) =>
      [...secrets]
        .filter(([, secret]) => text.includes(secret))
        .map(([what]) => `${what} in ${name}`),
    );

  it('holds for every command, also where a whole cookie was given for an id', () => {
    expect([...secrets.values()].every((secret) => secret.length > 12)).toBe(true);
    expect(sinks.map(({ text }) => text).join('')).toContain('ada@example.test');
    expect(findLeaks(sinks)).toEqual([]);
  });

  it('would find one planted anywhere', () => {
    for (const { name, text } of sinks)
      for (const [what, secret] of secrets)
        expect(findLeaks([{ name, text: `${text} ${secret}` }])).toEqual([`${what} in ${name}`]);
  });
});
