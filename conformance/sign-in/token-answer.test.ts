import { gzipSync } from 'node:zlib';
import { honestAnswer, type Lie, type TokenAnswer } from '@sallyport/testing/idp/fake-idp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { signed } from '../wire/forge.ts';
import { type Service, startHostedService } from '../wire/platform.ts';
import { askMe, beginsSession, expectRefused } from '../wire/sign-in.ts';

const MIB = 1_048_576;
const HTML = '<html><script>alert(1)</script>Sign in at the captive portal</html>';

/** A token answer, honest but for this. */
function answering(answer: Partial<TokenAnswer>): Lie {
  return { answer: (idToken) => ({ body: honestAnswer(idToken), ...answer }) };
}

/** The honest token answer with fields changed; `undefined` takes one out. */
function withFields(fields: Readonly<Record<string, unknown>>): Lie {
  return { answer: (idToken) => ({ body: honestAnswer(idToken, undefined, fields) }) };
}

function padded(bytes: number): Lie {
  return withFields({ padding: 'x'.repeat(bytes) });
}

function packed(bytes: number): Lie {
  return {
    answer: (idToken) => ({
      body: gzipSync(honestAnswer(idToken, undefined, { padding: 'x'.repeat(bytes) })),
      headers: { 'content-encoding': 'gzip' },
    }),
  };
}

describe('An IdP that answers', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startHostedService();
  });
  afterAll(() => service.stop());

  const signIn = async (lie: Lie) => {
    const browser = new Browser();
    return { browser, received: await service.signIn(browser, '/wanted', lie) };
  };
  /** What `/me` answers for a person with these claims. */
  const meFor = async (userInfo: Readonly<Record<string, unknown>>) => {
    const { browser, received } = await signIn({ userInfo });
    expect(beginsSession(received)).toBe(true);
    const answer = await browser.step(`${service.url}/me`);
    expect(answer.status).toBe(200);
    return { ...answer, user: JSON.parse(answer.body) as Record<string, unknown> };
  };
  const refused = async (lie: Lie, reason?: Parameters<typeof expectRefused>[2]) => {
    const received = await expectRefused(service, lie, reason);
    expect(received.body).not.toMatch(/alert|captive|canary/);
    return received;
  };

  describe('a code with an invalid answer', () => {
    it.each<[string, Lie]>([
      ['without an id_token', withFields({ id_token: undefined })],
      ['with an id_token null', withFields({ id_token: null })],
      ['with an id_token that is an object', withFields({ id_token: { sub: 'ada' } })],
      [
        'with a list of id_tokens',
        {
          answer: (idToken) => ({
            body: honestAnswer(idToken, undefined, { id_token: [idToken] }),
          }),
        },
      ],
      ['without an access token', withFields({ access_token: undefined })],
      ['with an access token that is a number', withFields({ access_token: 1 })],
      ['without a token type', withFields({ token_type: undefined })],
      ['with an unknown token type', withFields({ token_type: 'mac' })],
      ['with the token type DPoP', withFields({ token_type: 'DPoP' })],
      ['with the token type N_A', withFields({ token_type: 'N_A' })],
      ['with two token types', withFields({ token_type: 'Bearer DPoP' })],
      ['with an empty token type', withFields({ token_type: '' })],
      ['with a list of token types', withFields({ token_type: ['Bearer'] })],
      ['with a life that is text', withFields({ expires_in: 'soon' })],
      ['with a life that is negative', withFields({ expires_in: -1 })],
      ['with a refresh token that is an object', withFields({ refresh_token: {} })],
      ['with HTML', answering({ body: HTML, contentType: 'text/html' })],
      ['with HTML that says it is JSON', answering({ body: HTML })],
      ['with nothing', answering({ body: '' })],
      ['with a list', answering({ body: '[]' })],
      ['with null', answering({ body: 'null' })],
      ['with text', answering({ body: '"ok"' })],
      ['with JSON cut short', answering({ body: '{"access_token":"canary' })],
      ['with 201', answering({ status: 201 })],
      ['with 204', answering({ status: 204, body: '' })],
    ])('%s: a page, no session, and the next sign-in goes through', async (_, lie) => {
      await refused(lie);
    });

    it.each(['Bearer', 'bearer', 'BEARER'])(
      'RFC 6749 section 7.1: with the token type %s it signs in',
      async (type) => {
        expect(beginsSession((await signIn(withFields({ token_type: type }))).received)).toBe(true);
      },
    );

    it.each([301, 302, 303, 307, 308])(
      'with a redirect (%i): not followed, a page, no session',
      async (status) => {
        const location = `${service.idp.issuer}/elsewhere-${status}`;
        await refused(answering({ status, body: '', headers: { location } }));
        expect(service.idp.requests.map(({ path }) => path)).not.toContain(`/elsewhere-${status}`);
      },
    );

    it('with an error of status 500: a page that says to try again later, no session', async () => {
      const body = '{"error":"server_error","error_description":"canary"}';
      await refused(answering({ status: 500, body }), 'idp_unreachable');
    });

    it.each([500, 502, 503, 504])(
      'with status %i: a page that says to try again later, no session',
      async (status) => {
        const received = await refused(
          answering({ status, body: HTML, contentType: 'text/html' }),
          'idp_unreachable',
        );
        expect(received.headers['retry-after']).toMatch(/^[1-9]\d*$/);
      },
    );

    it.each([
      ['invalid_client', 401, 'misconfigured'],
      ['invalid_grant', 400, 'idp_refused'],
    ] as const)(
      'with the error %s: a page that names it, escaped, no session',
      async (error, status, reason) => {
        const body = JSON.stringify({ error, error_description: '<b>bold</b>' });
        const received = await refused(answering({ status, body }), reason);
        expect(received.body).toContain(error);
        expect(received.body).toContain('&lt;b&gt;bold&lt;/b&gt;');
        expect(received.body).not.toContain('<b>');
      },
    );

    it('with one of over 1 MiB: a page, no session; a smaller one is taken', async () => {
      const { browser } = await signIn(padded(MIB - 8_192));
      expect(await askMe(service, browser)).toBe(200);
      await refused(padded(MIB));
    });

    it('with one that is over 1 MiB once unpacked: a page, no session; a smaller one is taken', async () => {
      const { browser } = await signIn(packed(1_000));
      expect(await askMe(service, browser)).toBe(200);
      await refused(packed(16 * MIB));
    });
  });

  describe('userinfo', () => {
    it.each<[string, Lie]>([
      ['with another sub', { userInfo: { sub: 'root', name: 'Root' } }],
      ['with sub in capitals', { userInfo: { sub: 'ADA' } }],
      ['with an empty sub', { userInfo: { sub: '' } }],
      ['with a sub that is a list', { userInfo: { sub: ['ada'] } }],
      ['with over 1 MiB', { userInfo: { padding: 'x'.repeat(MIB) } }],
      ['without sub', { userInfo: { sub: undefined, name: 'Ada' } }],
      ['with HTML', { userInfoAnswer: { body: HTML, contentType: 'text/html' } }],
      ['with JSON cut short', { userInfoAnswer: { body: '{"sub":"ada"' } }],
      ['with null', { userInfoAnswer: { body: 'null' } }],
      ['with a list', { userInfoAnswer: { body: '["ada"]' } }],
      ['with 401', { userInfoAnswer: { status: 401, body: '{}' } }],
      [
        'with 401 and a challenge',
        {
          userInfoAnswer: {
            status: 401,
            body: '',
            headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
          },
        },
      ],
      [
        'with an unsigned JWT',
        {
          userInfoAnswer: {
            body: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.',
            contentType: 'application/jwt',
          },
        },
      ],
    ])('%s: a page, no session, and the next sign-in goes through', async (_, lie) => {
      await refused(lie);
    });

    it('with a redirect: not followed, a page, no session', async () => {
      const location = `${service.idp.issuer}/elsewhere`;
      await refused({ userInfoAnswer: { status: 302, body: '', headers: { location } } });
      expect(service.idp.requests.map(({ path }) => path)).not.toContain('/elsewhere');
    });

    it('with status 500: a page that says to try again later, no session', async () => {
      const body = '<html>canary</html>';
      const received = await refused(
        { userInfoAnswer: { status: 500, body, contentType: 'text/html' } },
        'idp_unreachable',
      );
      expect(received.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    });

    it('which adds to what the id_token says of a person, and changes none of it', async () => {
      const { browser } = await signIn({
        forge: signed({
          name: 'Ada of the id_token',
          email: 'ada@example.test',
          email_verified: true,
        }),
        userInfo: { name: 'Root', email: 'root@example.test', given_name: 'Ada' },
      });
      const { headers, body } = await browser.step(`${service.url}/me`);
      expect(headers['x-user-name']).toBe('Ada of the id_token');
      expect(headers['x-user-email']).toBe('ada@example.test');
      expect(JSON.parse(body)).toMatchObject({ givenName: 'Ada' });
    });

    it('which decides nothing that the id_token has said: issuer, subject, times', async () => {
      const { browser } = await signIn({
        userInfo: { iss: 'https://evil.example', exp: 1, aud: 'x', name: 'Ada' },
      });
      const { status, headers } = await browser.step(`${service.url}/me`);
      expect(status).toBe(200);
      expect(headers['x-user-issuer']).toBe(service.idp.issuer);
    });
  });

  describe('claims', () => {
    it.each([
      ['line breaks', 'Ada\r\nx-user-subject: root\r\n\r\n<html>'],
      ['a line feed', 'Ada\nset-cookie: core_session=evil'],
      ['a carriage return', 'Ada\rx-evil: 1'],
      ['NUL', 'Ada\u0000root'],
      ['an emoji', 'Ada 🚀 Lovelace'],
      ['letters beyond Latin-1', 'Ада Лавлейс 愛'],
      ['a percent sign', '100%25 Ada %0d%0a'],
      ['a comma and quotes', 'Lovelace, "Ada"; x=y'],
      ['a Unicode line separator', 'Ada\u2028root\u0085x'],
      ['DEL and a tab', 'Ada\u007f\troot'],
    ])('with %s in the name: one header, and the name arrives whole', async (_, name) => {
      const { headers, setCookies, user } = await meFor({ name });
      const sent = headers['x-user-name'];
      expect(sent).toMatch(/^[\x20-\x7e]*$/);
      expect(decodeURIComponent(String(sent))).toBe(name);
      expect(headers['x-user-subject']).toBe('ada');
      expect(headers).not.toHaveProperty('x-evil');
      expect(setCookies).toEqual([]);
      expect(user['name']).toBe(name);
    });

    it.each<[string, unknown]>([
      ['a number', 1],
      ['a list', ['Ada']],
      ['an object', { toString: 'Ada' }],
      ['null', null],
      ['longer than any name', 'A'.repeat(513)],
    ])('with a name that is %s: no name, and no failure', async (_, name) => {
      const { headers, user } = await meFor({ name });
      expect(headers['x-user-name']).toBe('');
      expect(user['name']).toBe('');
    });

    it('with email_verified true: backends receive the address', async () => {
      const { headers, user } = await meFor({ email: 'ada@example.test', email_verified: true });
      expect(headers['x-user-email']).toBe('ada@example.test');
      expect(user['email']).toBe('ada@example.test');
    });

    it.each([undefined, false, null, 'true', 1, 'yes', [true], {}])(
      'with email_verified %j: backends do not receive the address',
      async (verified) => {
        const { headers, user, body } = await meFor({
          email: 'ada@example.test',
          email_verified: verified,
        });
        expect(headers['x-user-email']).toBe('');
        expect(user['email']).toBe('');
        expect(body).not.toContain('ada@example.test');
      },
    );

    it.each<[string, unknown]>([
      ['a list', ['ada@example.test']],
      ['an object', { address: 'ada@example.test' }],
      ['true', true],
    ])('with an email that is %s: backends receive none', async (_, email) => {
      const { headers } = await meFor({ email, email_verified: true });
      expect(headers['x-user-email']).toBe('');
    });

    it('with names of object members: they stay out of the user record', async () => {
      const { body } = await signIn({
        userInfoAnswer: {
          body: '{"sub":"ada","__proto__":{"name":"Root","email":"r@x"},"constructor":"x","toString":"y"}',
        },
      }).then(({ browser }) => browser.step(`${service.url}/me`));
      expect(JSON.parse(body)).toMatchObject({ subject: 'ada', name: '', email: '' });
    });
  });
});
