import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exchange } from '../wire/exchange.ts';
import { type Plane, startPlane } from '../wire/platform.ts';
import { signInByDevice } from './device-code.ts';
import { clock, home, useHome } from './fixture.ts';

const PROCESSES = 20;

let plane: Plane;
useHome();
beforeAll(async () => {
  plane = await startPlane(['--cli-refresh-tokens']);
});
afterAll(() => plane.stop());
beforeEach(async () => {
  const { code, stderr } = await signInByDevice(home, plane, 'ada', clock);
  expect([code, stderr]).toEqual([0, expect.stringContaining('as Ada Lovelace')]);
});

/** The one file of kept tokens. */
function tokenFile(): string {
  const found = readdirSync(home.path, { recursive: true, withFileTypes: true }).filter(
    (entry) =>
      entry.isFile() && entry.parentPath.endsWith('/tokens') && !entry.name.includes('lock'),
  );
  expect(found).toHaveLength(1);
  return join(found[0]?.parentPath ?? '', found[0]?.name ?? '');
}

const kept = (): Record<string, unknown> => JSON.parse(readFileSync(tokenFile(), 'utf8'));

/** Makes the kept token one that ended a minute ago. */
function expire(): void {
  const record = { ...kept(), expires_at: Date.now() - 60_000, obtained_at: Date.now() - 120_000 };
  writeFileSync(tokenFile(), JSON.stringify(record), { mode: 0o600 });
}

/** Answers of the token endpoint to the command so far, a refusal as its error. */
async function tokenAnswers(): Promise<readonly string[]> {
  const log = () =>
    readFileSync(join(plane.state, 'sallyport.log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('"idp.token.') && line.includes('sallyport-cli'))
      .map((line) => JSON.parse(line) as Record<string, string>)
      .map((entry) => entry['grant_type'] ?? `refused ${entry['error']}`);
  // The log is written behind the answers; a request of the test's own comes last in it.
  const before = log().filter((answer) => answer === PROBE).length;
  const form = new URLSearchParams({ grant_type: 'probe', client_id: 'sallyport-cli' });
  await fetch(`${plane.issuer}/idp/token`, { method: 'POST', body: form });
  let answers = log();
  while (answers.filter((answer) => answer === PROBE).length === before) answers = log();
  return answers.filter((answer) => answer !== PROBE);
}
const PROBE = 'refused unsupported_grant_type';

const isAdmitted = async (token: string): Promise<boolean> =>
  (await exchange(`${plane.url}/me`, { headers: { 'core-authorization': `Bearer ${token}` } }))
    .status === 200;

describe('Refreshing against an IdP that rotates refresh tokens and detects their re-use', () => {
  it('twenty processes with one expired token refresh once, and each gets a token that is valid', async () => {
    expire();
    const before = await tokenAnswers();
    const ended = await Promise.all(
      Array.from({ length: PROCESSES }, () => home.start(['token', '--no-login']).ended),
    );
    expect(ended.map(({ code }) => code)).toEqual(Array(PROCESSES).fill(0));
    const tokens = new Set(ended.map(({ stdout }) => stdout.trim()));
    expect(tokens.size).toBe(1);
    for (const token of tokens) expect(await isAdmitted(token)).toBe(true);
    expect((await tokenAnswers()).slice(before.length)).toEqual(['refresh_token']);
  });

  it('and the person stays signed in: the next refresh works too', async () => {
    expire();
    expect((await home.run(['token', '--no-login'])).code).toBe(0);
    const first = kept()['refresh_token'];
    expire();
    const { code, stdout } = await home.run(['token', '--no-login']);
    expect([code, await isAdmitted(stdout.trim())]).toEqual([0, true]);
    expect(kept()['refresh_token']).not.toBe(first);
  });

  it('a refresh token used before ends the sign-in, in one sentence: the IdP does detect it', async () => {
    const stale = kept()['refresh_token'];
    expire();
    expect((await home.run(['token', '--no-login'])).code).toBe(0);
    writeFileSync(tokenFile(), JSON.stringify({ ...kept(), refresh_token: stale }));
    expire();
    const { code, stdout, stderr } = await home.run(['token', '--no-login']);
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toContain('sallyport login');
  });

  it('logout revokes it at the IdP: a copy of the tokens refreshes no more', async () => {
    const copy = kept();
    expect((await home.run(['logout'])).code).toBe(0);
    const form = new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: 'sallyport-cli',
      refresh_token: String(copy['refresh_token']),
    });
    const answer = await fetch(`${plane.issuer}/idp/token`, { method: 'POST', body: form });
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([
      400,
      'invalid_grant',
    ]);
  });
});
