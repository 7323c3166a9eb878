import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Browser, nextAddress, readForm } from './browser.ts';
import { exchange, type Received } from './exchange.ts';
import { type MovedClock, startMovedClock } from './moved-clock.ts';
import { type Login, type RotatingIdp, startRotatingIdp } from './rotating-idp.ts';

const VERIFIER = 'v'.repeat(43);
/** Its S256 challenge. */
const CHALLENGE = '7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM';

interface Tokens {
  readonly refresh_token: string;
  readonly id_token: string;
  readonly expires_in: number;
}

/** As much of a relying party as refreshing needs. */
function createClient(idp: RotatingIdp) {
  const token = (form: Readonly<Record<string, string>>): Promise<Received> => {
    const secret = readFileSync(idp.environment['OIDC_CLIENT_SECRET_FILE'] ?? '', 'utf8');
    const body = new URLSearchParams({ ...form }).toString();
    return exchange(idp.environment['AUTH_TOKEN_URL'] ?? '', {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': String(body.length),
        authorization: `Basic ${Buffer.from(`web-app:${secret}`).toString('base64')}`,
      },
      body,
    });
  };
  return {
    refresh: (refreshToken: string) =>
      token({ grant_type: 'refresh_token', refresh_token: refreshToken }),
    async signIn(login: Login = 'ada'): Promise<Tokens> {
      const browser = new Browser();
      const request = new URLSearchParams({
        response_type: 'code',
        client_id: 'web-app',
        redirect_uri: `${idp.publicUrl}/callback`,
        scope: 'profile openid offline_access',
        code_challenge: CHALLENGE,
        code_challenge_method: 'S256',
      });
      const page = await browser.visit(`${idp.issuer}/idp/authorize?${request}`);
      const { action, form } = readForm(page);
      let received = await browser.step(action, {
        form: { ...form, login, password: idp.password(login) },
        headers: { origin: idp.issuer },
      });
      while (nextAddress(received)?.startsWith(idp.publicUrl) === false)
        received = await browser.step(new URL(nextAddress(received) ?? '', idp.issuer).href);
      const { searchParams } = new URL(nextAddress(received) ?? '');
      const answer = await token({
        grant_type: 'authorization_code',
        code: searchParams.get('code') ?? '',
        redirect_uri: `${idp.publicUrl}/callback`,
        code_verifier: VERIFIER,
      });
      return JSON.parse(answer.body) as Tokens;
    },
  };
}

const next = ({ body }: Received) => (JSON.parse(body) as Tokens).refresh_token;
const claims = ({ id_token: token }: Tokens) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    iat: number;
    sub: string;
  };

describe('The rotating IdP', () => {
  let idp: RotatingIdp;
  let clock: MovedClock;
  let client: ReturnType<typeof createClient>;
  beforeAll(async () => {
    clock = await startMovedClock();
    idp = await startRotatingIdp({ clock, accessTokenTtlSeconds: 90 });
    client = createClient(idp);
  });
  afterEach(() => idp.refreshes.pass());
  afterAll(async () => {
    await idp.close();
    await clock.close();
  });

  it('gives a new refresh token for each, and ends the family of one that is used twice', async () => {
    const tokens = await client.signIn();
    expect(tokens.expires_in).toBe(90);
    const first = await client.refresh(tokens.refresh_token);
    const second = await client.refresh(next(first));
    expect([first.status, second.status]).toEqual([200, 200]);
    const reuse = await client.refresh(tokens.refresh_token);
    expect([reuse.status, JSON.parse(reuse.body)]).toMatchObject([400, { error: 'invalid_grant' }]);
    expect((await client.refresh(next(second))).status).toBe(400);
  });

  it('accepts a used refresh token again within the leeway it was started with', async () => {
    const lenient = await startRotatingIdp({ clock, leewaySeconds: 30 });
    onTestFinished(() => lenient.close());
    const other = createClient(lenient);
    const { refresh_token } = await other.signIn();
    expect((await other.refresh(refresh_token)).status).toBe(200);
    expect((await other.refresh(refresh_token)).status).toBe(200);
    await clock.advance(31_000);
    expect((await other.refresh(refresh_token)).status).toBe(400);
  });

  it('counts requests by path and grant type, and knows whose token is refreshed', async () => {
    const before = [
      idp.count('/idp/token'),
      idp.count('/idp/token', 'refresh_token'),
      idp.count('/idp/jwks'),
    ];
    const { refresh_token } = await client.signIn('grace');
    await exchange(`${idp.issuer}/idp/jwks`);
    await client.refresh(refresh_token);
    const after = [
      idp.count('/idp/token'),
      idp.count('/idp/token', 'refresh_token'),
      idp.count('/idp/jwks'),
    ];
    expect(after.map((count, index) => count - (before[index] ?? 0))).toEqual([2, 1, 1]);
    expect(idp.seenRefreshes().at(-1)).toMatchObject({ login: 'grace', idpStatus: 200 });
  });

  it('holds a refresh before the IdP has seen it', async () => {
    const { refresh_token } = await client.signIn();
    const gate = idp.refreshes.hold();
    const arrives = idp.nextRefresh();
    const answer = client.refresh(refresh_token);
    expect((await arrives).form.get('refresh_token')).toBe(refresh_token);
    await gate.holds(1);
    expect(idp.seenRefreshes().at(-1)?.idpStatus).toBeUndefined();
    gate.open();
    expect((await answer).status).toBe(200);
    expect((await client.refresh(next(await answer))).status).toBe(200);
  });

  it('does not pass on a held refresh whose connection has ended: its token stays unused', async () => {
    const { refresh_token } = await client.signIn();
    idp.refreshes.hold();
    const arrives = idp.nextRefresh();
    const failed = client.refresh(refresh_token).catch((error: Error) => error.message);
    await arrives;
    await idp.goDown();
    expect(await failed).toContain('socket hang up');
    await idp.comeUp();
    idp.refreshes.pass();
    expect((await client.refresh(refresh_token)).status).toBe(200);
  });

  it('holds an answer whose refresh token is used up already', async () => {
    const { refresh_token } = await client.signIn();
    const gate = idp.refreshes.holdAnswers();
    const answer = client.refresh(refresh_token);
    await gate.holds(1);
    expect(idp.seenRefreshes().at(-1)?.idpStatus).toBe(200);
    gate.open();
    expect((await client.refresh(next(await answer))).status).toBe(200);
  });

  it('drops an answer, so that its refresh token is used up and no client has the next one', async () => {
    const { refresh_token } = await client.signIn();
    idp.refreshes.dropAnswers(1);
    await expect(client.refresh(refresh_token)).rejects.toThrow('ECONNRESET');
    expect((await client.refresh(refresh_token)).status).toBe(400);
  });

  it('resets a connection before the IdP has seen the refresh', async () => {
    const { refresh_token } = await client.signIn();
    idp.refreshes.reset(1);
    await expect(client.refresh(refresh_token)).rejects.toThrow('ECONNRESET');
    expect((await client.refresh(refresh_token)).status).toBe(200);
  });

  it.each([500, 503, 429])('answers %i in place of the IdP, so often as said', async (status) => {
    const { refresh_token } = await client.signIn();
    const headers = { 'retry-after': '7' };
    idp.refreshes.answer(status, { times: 2, headers, body: '{"error":"busy"}' });
    for (const answer of [await client.refresh(refresh_token), await client.refresh(refresh_token)])
      expect(answer).toMatchObject({ status, body: '{"error":"busy"}', headers });
    expect((await client.refresh(refresh_token)).status).toBe(200);
  });

  it('takes as long for a refresh as said, and not for a sign-in', async () => {
    // No exchange of a test waits that long.
    idp.refreshes.delay(60_000);
    const { refresh_token } = await client.signIn();
    idp.refreshes.delay(500);
    const asked = performance.now();
    expect((await client.refresh(refresh_token)).status).toBe(200);
    // A timer may fire up to a millisecond early.
    expect(performance.now() - asked).toBeGreaterThanOrEqual(499);
  });

  it('refuses connections while it is down, and knows everything when it is up again', async () => {
    const { refresh_token } = await client.signIn();
    await idp.goDown();
    await expect(client.refresh(refresh_token)).rejects.toThrow('ECONNREFUSED');
    await idp.comeUp();
    expect((await client.refresh(refresh_token)).status).toBe(200);
  });

  it('ends all grants of one person, and no grant of another', async () => {
    const [first, second] = [await client.signIn(), await client.signIn()];
    const grace = await client.signIn('grace');
    const rotated = next(await client.refresh(first.refresh_token));
    await idp.revoke('ada');
    expect((await client.refresh(rotated)).status).toBe(400);
    expect((await client.refresh(second.refresh_token)).status).toBe(400);
    expect((await client.refresh(grace.refresh_token)).status).toBe(200);
  });

  it("issues tokens at the moved clock's time", async () => {
    const before = claims(await client.signIn()).iat;
    await clock.advance(5 * 3_600_000);
    const tokens = claims(await client.signIn('grace'));
    expect(tokens.sub).toBe('grace');
    expect(tokens.iat - before).toBeGreaterThanOrEqual(5 * 3_600);
    expect(tokens.iat * 1_000).toBeLessThanOrEqual(clock.now());
  });
});
