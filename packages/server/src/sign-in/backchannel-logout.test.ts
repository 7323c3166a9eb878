import { Readable } from 'node:stream';
import { setImmediate as settled } from 'node:timers/promises';
import { accept, refuse, SallyportError } from '@sallyport/protocol';
import { Clock, NOON } from '@sallyport/testing/time/clock';
import { Timers } from '@sallyport/testing/time/timers';
import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../audit/audit.ts';
import type { LogoutToken } from '../issuer/relying-party/logout-token.ts';
import type { EndedAtIdp } from '../session/principal-sessions.ts';
import { type BackchannelLogoutOptions, createBackchannelLogout } from './backchannel-logout.ts';
import { createKeptLogouts } from './kept-logouts.ts';
import { createRateLimit } from './rate-limit.ts';

const TOKEN: LogoutToken = {
  issuer: 'https://idp.example',
  subject: 'ada',
  sid: 's1',
  jti: 'j1',
  issuedAt: NOON,
  acceptedUntil: NOON + 150_000,
};
const DOWN = new SallyportError('SP_STORE_UNAVAILABLE', { component: 'store:test' });
const FORM = 'application/x-www-form-urlencoded';
const INVALID_TOKEN = {
  error: 'invalid_request',
  error_description: 'The logout token is not accepted',
};
const NO_FORM = {
  error: 'invalid_request',
  error_description: 'A form with one logout_token is expected',
};

const ORIGIN = { address: '192.0.2.1', browser: undefined, request_id: 'request-0001' };

function refusedFor(reason: string): AuditEvent {
  return {
    event: 'backchannel_logout_refused',
    issuer: undefined,
    subject: undefined,
    session: undefined,
    ...ORIGIN,
    reason,
  };
}

function setup(overrides: Partial<BackchannelLogoutOptions> = {}) {
  const clock = new Clock();
  const log: string[] = [];
  const audited: AuditEvent[] = [];
  /** What was done, in order. */
  const steps: string[] = [];
  const claimed = new Map<string, number>();
  const ended: EndedAtIdp[] = [];
  const verified: string[] = [];
  const turns = new Map<string, string>();
  const state = {
    endsFail: false,
    claimsFail: false,
    turnsFail: false,
    held: undefined as Promise<void> | undefined,
  };
  const timers = new Timers();
  const logged = (level: string, event: string, fields: object = {}) =>
    log.push(`${level} ${event} ${JSON.stringify(fields)}`);
  const keptLogouts = createKeptLogouts({ schedule: timers.schedule, now: clock.now, log: logged });
  const endpoint = createBackchannelLogout({
    keptLogouts,
    relyingParty: {
      async verifyLogoutToken(token) {
        verified.push(token);
        if (token === 'twin') return accept({ ...TOKEN, subject: 'grace', sid: 's2' });
        return token === 'good' ? accept(TOKEN) : refuse({ reason: 'token_invalid', check: 'iat' });
      },
    },
    sessions: {
      async endAtIdp(what) {
        await state.held;
        if (state.endsFail) throw DOWN;
        steps.push('end');
        ended.push(what);
        return ended.length === 1 ? [11, 12] : [];
      },
    },
    store: {
      async takeTurn(key, holder, forMs) {
        if (state.turnsFail) throw DOWN;
        const name = Buffer.from(key).toString('hex');
        if (claimed.has(name)) return 'claimed';
        if ((turns.get(name) ?? holder) !== holder) return 'under_way';
        if (forMs > 0) turns.set(name, holder);
        else turns.delete(name);
        steps.push(forMs > 0 ? 'take the turn' : 'give it back');
        return 'taken';
      },
      async claimOnce(key, expiresAt) {
        if (state.claimsFail) throw DOWN;
        const name = Buffer.from(key).toString('hex');
        const isFirst = !claimed.has(name);
        claimed.set(name, expiresAt);
        steps.push('claim');
        return isFirst;
      },
    },
    countsAddresses: true,
    rateLimit: createRateLimit(3, clock.now),
    log: logged,
    audit: (event) => audited.push(event),
    ...overrides,
  });
  const send = (
    body: string | Readable,
    { method = 'POST', type = FORM, address = '192.0.2.1', headers = {} } = {},
  ) =>
    endpoint({
      method,
      headers: { 'content-type': type, ...headers },
      rawHeaders: [],
      address,
      requestId: 'request-0001',
      body: typeof body === 'string' ? Readable.from([Buffer.from(body)]) : body,
    });
  return { timers, keptLogouts, clock, log, audited, steps, claimed, ended, verified, state, send };
}

async function expectRefused(response: Response, body: unknown): Promise<void> {
  expect(response.status).toBe(400);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.has('retry-after')).toBe(false);
  expect(await response.json()).toEqual(body);
}

describe('POST /auth/backchannel-logout', () => {
  it('ends what a valid token names, and answers 200 without a body', async () => {
    const { send, ended, audited } = setup();
    const response = await send('logout_token=good');
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(ended).toEqual([{ issuer: TOKEN.issuer, subject: 'ada', sid: 's1', endedAt: NOON }]);
    const line = { issuer: TOKEN.issuer, subject: 'ada', ...ORIGIN };
    expect(audited).toEqual([
      ...[11, 12].map((session) => ({
        event: 'session_ended',
        ...line,
        session,
        reason: 'session_revoked',
      })),
      {
        event: 'backchannel_logout',
        ...line,
        session: undefined,
        reason: 'idp_logout',
        has_sid: true,
        sessions: 2,
      },
    ]);
  });

  it('takes the turn of the jti before anything ends, and claims it for as long as the token is accepted', async () => {
    const { send, steps, claimed } = setup();
    await send('logout_token=good');
    expect(steps).toEqual(['take the turn', 'end', 'claim']);
    expect([...claimed.values()]).toEqual([TOKEN.acceptedUntil]);
  });

  it.each(['good', 'twin'])(
    'refuses a second token of the same jti (%s), which ends nothing',
    async (second) => {
      const { send, steps, ended, audited } = setup();
      await send('logout_token=good');
      audited.length = 0;
      steps.length = 0;
      await expectRefused(await send(`logout_token=${second}`), INVALID_TOKEN);
      expect([ended.length, steps]).toEqual([1, []]);
      expect(audited).toEqual([refusedFor('replay')]);
    },
  );

  it('leaves what two issuers call the same jti apart', async () => {
    let issuer = TOKEN.issuer;
    const { send, ended } = setup({
      relyingParty: { verifyLogoutToken: async () => accept({ ...TOKEN, issuer }) },
    });
    await send('logout_token=good');
    issuer = 'https://other.example';
    expect((await send('logout_token=good')).status).toBe(200);
    expect(ended).toHaveLength(2);
  });

  it('has a second delivery sent again later while the first is being carried out, and ends nothing by it', async () => {
    const { send, state, ended, audited } = setup();
    const { promise, resolve } = Promise.withResolvers<void>();
    state.held = promise;
    const first = send('logout_token=good');
    for (const token of ['good', 'twin']) {
      const response = await send(`logout_token=${token}`);
      expect([response.status, response.headers.get('retry-after')]).toEqual([400, '5']);
      expect(await response.json()).toMatchObject({ error: 'temporarily_unavailable' });
    }
    expect(audited).toEqual([refusedFor('under_way'), refusedFor('under_way')]);
    expect(ended).toEqual([]);
    resolve();
    expect((await first).status).toBe(200);
    expect(ended).toHaveLength(1);
    await expectRefused(await send('logout_token=good'), INVALID_TOKEN);
    expect(ended).toHaveLength(1);
  });

  it('gives the turn back when the logout failed, so that the next attempt need not wait', async () => {
    const { send, state, steps } = setup();
    state.endsFail = true;
    await send('logout_token=good');
    expect(steps).toEqual(['take the turn', 'give it back']);
  });

  it.each(['turnsFail', 'endsFail', 'claimsFail'] as const)(
    'section 2.8: a logout that failed (%s) is 400 that may be tried again, and a later delivery of the same token succeeds',
    async (failure) => {
      const { send, state, log, ended } = setup();
      state[failure] = true;
      const response = await send('logout_token=good');
      expect(response.status).toBe(400);
      expect(response.headers.get('retry-after')).toBe('5');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(await response.json()).toEqual({
        error: 'temporarily_unavailable',
        error_description: 'The logout could not be carried out',
      });
      expect(log).toEqual([expect.stringContaining('error backchannel_logout_failed')]);
      state[failure] = false;
      ended.length = 0;
      expect((await send('logout_token=good')).status).toBe(200);
      expect(ended).toEqual([{ issuer: TOKEN.issuer, subject: 'ada', sid: 's1', endedAt: NOON }]);
      await expectRefused(await send('logout_token=good'), INVALID_TOKEN);
      expect(ended).toHaveLength(1);
    },
  );

  it.each(['turnsFail', 'endsFail', 'claimsFail'] as const)(
    'carries out what the store could not take (%s) once it can, without the sender, which gets 200 if it asks again',
    async (failure) => {
      const { send, state, timers, ended, audited, steps } = setup();
      state[failure] = true;
      expect((await send('logout_token=good')).status).toBe(400);
      timers.fire(1_000);
      await settled();
      expect(audited.some(({ event }) => event === 'backchannel_logout')).toBe(false);
      state[failure] = false;
      ended.length = 0;
      timers.fire(1_000);
      await settled();
      expect(ended).toHaveLength(1);
      expect(steps.at(-1)).toBe('claim');
      expect(audited.at(-1)).toMatchObject({ event: 'backchannel_logout', ...ORIGIN });
      expect(timers.waiting).toEqual([]);
      // Another token of that jti is a replay, and so is this one when it comes a third time.
      await expectRefused(await send('logout_token=twin'), INVALID_TOKEN);
      expect((await send('logout_token=good')).status).toBe(200);
      await expectRefused(await send('logout_token=good'), INVALID_TOKEN);
      expect(ended).toHaveLength(1);
    },
  );

  it('keeps nothing that was not verified, and no more of what the sender brought in the meantime', async () => {
    const { send, state, timers, ended } = setup();
    state.endsFail = true;
    await send('logout_token=bad');
    expect(timers.waiting).toEqual([]);
    await send('logout_token=good');
    await send('logout_token=good');
    expect(timers.waiting).toEqual([1_000]);
    state.endsFail = false;
    expect((await send('logout_token=good')).status).toBe(200);
    timers.fire(1_000);
    await settled();
    expect(ended).toHaveLength(1);
  });

  it('says in the log what it could not keep until the end', async () => {
    const { send, state, keptLogouts, timers, log, clock } = setup();
    state.endsFail = true;
    await send('logout_token=good');
    expect(log.at(-1)).toContain('"kept":true');
    clock.advance(3_600_000);
    timers.fire(1_000);
    await settled();
    expect(log.at(-1)).toBe('error backchannel_logouts_lost {"count":1}');
    await send('logout_token=good');
    keptLogouts.close();
    expect(log.at(-1)).toBe('error backchannel_logouts_lost {"count":1}');
    expect(timers.waiting).toEqual([]);
    await send('logout_token=good');
    expect(log.at(-1)).toContain('"kept":false');
  });

  it('section 2.8: a logout is 400 that may be tried again while keys or metadata cannot be read', async () => {
    const { send, ended, claimed, log } = setup({
      relyingParty: { verifyLogoutToken: async () => refuse({ reason: 'idp_unreachable' }) },
    });
    const response = await send('logout_token=good');
    expect([response.status, response.headers.get('retry-after')]).toEqual([400, '5']);
    expect([ended.length, claimed.size]).toEqual([0, 0]);
    expect(log).toEqual([expect.stringContaining('idp_unreachable')]);
  });

  it('section 2.8: a token whose key may be a new one is 400 that may be tried again, and counts as an invalid one', async () => {
    const { send, ended, claimed, audited } = setup({
      relyingParty: {
        verifyLogoutToken: async () => refuse({ reason: 'key_pending', retryAfterSeconds: 17 }),
      },
    });
    for (let turn = 0; turn < 3; turn += 1) {
      const response = await send('logout_token=new');
      expect([response.status, response.headers.get('retry-after')]).toEqual([400, '17']);
      expect(await response.json()).toEqual({
        error: 'temporarily_unavailable',
        error_description: 'The logout could not be carried out',
      });
    }
    expect((await send('logout_token=new')).status).toBe(429);
    expect([ended.length, claimed.size]).toEqual([0, 0]);
    // Any client can send one: no error of ours.
    for (const event of audited) expect(event).toEqual(refusedFor('key_pending'));
    expect(audited).toHaveLength(3);
  });

  it('refuses a token that does not pass a check, names the check in the log alone, and uses up nothing', async () => {
    const { send, ended, claimed, log, audited } = setup();
    await expectRefused(await send('logout_token=canary'), INVALID_TOKEN);
    expect([ended.length, claimed.size]).toEqual([0, 0]);
    expect(audited).toEqual([refusedFor('iat')]);
    expect(log).toEqual([]);
  });

  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'post'])(
    'section 2.5: %s is 405 and allows POST',
    async (method) => {
      const { send, verified } = setup();
      const response = await send('logout_token=good', { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(verified).toEqual([]);
    },
  );

  it.each([FORM, `${FORM}; charset=UTF-8`, 'Application/X-WWW-Form-URLEncoded ;x=y'])(
    'section 2.5: takes a form of the type %s',
    async (type) => {
      expect((await setup().send('logout_token=good', { type })).status).toBe(200);
    },
  );

  it.each(['', 'application/json', 'multipart/form-data; boundary=x', 'text/plain', `x${FORM}`])(
    'section 2.5: refuses a body of the type %j before verifying anything',
    async (type) => {
      const { send, verified } = setup();
      await expectRefused(await send('logout_token=good', { type }), NO_FORM);
      expect(verified).toEqual([]);
    },
  );

  it('section 2.5: ignores other parameters, repeated ones too', async () => {
    const { send, verified } = setup();
    expect((await send('x=1&logout_token=good&x=2&logout_token_hint=3')).status).toBe(200);
    expect(verified).toEqual(['good']);
  });

  it.each([
    ['repeated', 'logout_token=good&logout_token=good'],
    ['repeated, once encoded', 'logout_token=good&logout%5Ftoken=other'],
    ['missing', 'token=good'],
    ['missing in an empty body', ''],
    ['in other letters', 'Logout_Token=good'],
  ])('refuses a request whose logout_token is %s before verifying anything', async (_, body) => {
    const { send, verified } = setup();
    await expectRefused(await send(body), NO_FORM);
    expect(verified).toEqual([]);
  });

  it('reads 64 KiB and no more, whatever length was announced', async () => {
    const pad = (length: number) => `logout_token=good&x=${'y'.repeat(length - 20)}`;
    expect((await setup().send(pad(65_536))).status).toBe(200);
    await expectRefused(await setup().send(pad(65_537)), NO_FORM);
    const headers = { 'content-length': '65537' };
    await expectRefused(await setup().send('logout_token=good', { headers }), NO_FORM);
    let read = 0;
    const endless = new Readable({
      read() {
        read += 16_384;
        this.push(Buffer.alloc(16_384, 0x61));
      },
    });
    await expectRefused(await setup().send(endless), NO_FORM);
    expect(endless.destroyed).toBe(false);
    expect(read).toBeLessThan(1_048_576);
  });

  it('refuses a request that breaks off', async () => {
    const broken = new Readable({
      read() {
        this.destroy(new Error('aborted'));
      },
    });
    await expectRefused(await setup().send(broken), NO_FORM);
  });

  it('holds back an address that sends nothing but invalid requests, and no other', async () => {
    const { send, verified, clock } = setup();
    for (let turn = 0; turn < 3; turn += 1) await send('logout_token=bad');
    const held = await send('logout_token=good');
    expect([held.status, held.headers.get('retry-after')]).toEqual([429, '20']);
    expect(held.headers.get('cache-control')).toBe('no-store');
    expect(verified).toHaveLength(3);
    expect((await send('logout_token=good', { address: '192.0.2.2' })).status).toBe(200);
    clock.advance(20_000);
    expect((await send('logout_token=bad')).status).toBe(400);
  });

  it('never holds back an IdP whose requests are valid', async () => {
    let jti = 0;
    const { send } = setup({
      relyingParty: {
        verifyLogoutToken: async () => {
          jti += 1;
          return accept({ ...TOKEN, jti: String(jti) });
        },
      },
    });
    for (let turn = 0; turn < 100; turn += 1)
      expect((await send('logout_token=good')).status).toBe(200);
  });

  it('counts nothing that a browser sends, and reads none of it', async () => {
    const { send, verified, audited } = setup();
    for (let turn = 0; turn < 10; turn += 1) {
      const headers = { 'sec-fetch-mode': 'no-cors', 'sec-fetch-site': 'cross-site' };
      await expectRefused(await send('logout_token=good', { headers }), NO_FORM);
    }
    expect(verified).toEqual([]);
    expect(audited[0]).toEqual(refusedFor('browser'));
    expect((await send('logout_token=good')).status).toBe(200);
  });

  it('takes what an IdP sends by the fetch of Node, which names a mode and no site', async () => {
    const { send } = setup();
    const sent = await send('logout_token=good', { headers: { 'sec-fetch-mode': 'cors' } });
    expect(sent.status).toBe(200);
  });

  it('counts no address where addresses mean nothing', async () => {
    const { send } = setup({ countsAddresses: false });
    for (let turn = 0; turn < 10; turn += 1)
      expect((await send('logout_token=bad')).status).toBe(400);
  });
});
