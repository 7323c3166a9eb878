import { COOKIE, PUBLIC } from '@sallyport/testing/server/check';
import { createSignInUnderTest, toSignInRequest } from '@sallyport/testing/server/sign-in';
import { describe, expect, it } from 'vitest';
import { createLogout } from './logout.ts';

/** What a browser sends when a person follows a link on a page of ours. */
const LINK = {
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};
const isQuestion = (body: string) => body.includes('Sign out?');

describe('/logout', () => {
  it('signs out by a link on a page of ours', async () => {
    const { dependencies, signIn, ask } = createSignInUnderTest();
    const { cookie } = await signIn();
    await createLogout(dependencies)(
      toSignInRequest('', { ...LINK, cookie: `${COOKIE}=${cookie}` }),
    );
    expect(await ask(cookie)).toEqual({ outcome: 'refused', reason: 'signed_out' });
  });

  it.each([
    ['another site leads there', { 'sec-fetch-site': 'cross-site' }],
    ['a page of ours loads it, and does not go there', { 'sec-fetch-mode': 'no-cors' }],
  ])('asks first where %s, and ends nothing', async (_what, difference) => {
    const { dependencies, signIn, ask } = createSignInUnderTest();
    const { cookie } = await signIn();
    const response = await createLogout(dependencies)(
      toSignInRequest('', { ...LINK, ...difference, cookie: `${COOKIE}=${cookie}` }),
    );
    expect(isQuestion(await response.text())).toBe(true);
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
  });

  it.each([
    ['sec-purpose', 'prefetch'],
    ['sec-purpose', 'prefetch;prerender'],
    ['sec-purpose', 'prefetch;anonymous-client-ip'],
    ['purpose', 'prefetch'],
    ['x-moz', 'prefetch'],
    ['x-purpose', 'preview'],
  ])('ends nothing where a browser only loads ahead (%s: %s)', async (name, value) => {
    const { dependencies, signIn, ask } = createSignInUnderTest();
    const { cookie } = await signIn();
    const response = await createLogout(dependencies)(
      toSignInRequest('', { ...LINK, [name]: value, cookie: `${COOKIE}=${cookie}` }),
    );
    expect([response.status, response.headers.get('set-cookie')]).toEqual([401, null]);
    expect(await response.json()).toMatchObject({
      title: 'Open this address in a browser window to sign out',
    });
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
  });

  it('does not take a cookie that a browser withholds from the POST of another site for none', async () => {
    const { dependencies } = createSignInUnderTest();
    const logout = createLogout(dependencies);
    const post = (origin: string) => logout(toSignInRequest('', { origin }, 'POST'));
    expect(isQuestion(await (await post('https://evil.example')).text())).toBe(true);
    expect(isQuestion(await (await post(PUBLIC)).text())).toBe(false);
  });
});
