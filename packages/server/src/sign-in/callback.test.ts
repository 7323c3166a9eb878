import { COOKIE, PUBLIC } from '@sallyport/testing/server/check';
import { ADA_SIGNS_IN } from '@sallyport/testing/server/people';
import {
  createSignInUnderTest,
  startSignIn,
  toSignInRequest,
} from '@sallyport/testing/server/sign-in';
import { describe, expect, it } from 'vitest';
import { ownerOfPrincipal } from '../session/session-record.ts';
import { ATTEMPT_LIFE_MS } from './attempt.ts';
import { createCallback } from './callback.ts';

const DOCS = 'https://docs.example';

describe('/callback', () => {
  it('uses an attempt once, for as long as it counts, however often the store is swept', async () => {
    const { dependencies, clock, store, asked } = createSignInUnderTest();
    const { query, cookie } = await startSignIn({ dependencies });
    const callback = createCallback(dependencies);
    expect((await callback(toSignInRequest(query, { cookie }))).status).toBe(302);
    clock.advance(ATTEMPT_LIFE_MS - 1);
    await store.sweep(100);
    await callback(toSignInRequest(query, { cookie }));
    expect(asked.filter((what) => what === 'exchange')).toHaveLength(1);
  });

  it('goes to a target that the rules still allow, and to none that they allow no longer', async () => {
    const { dependencies } = createSignInUnderTest();
    const allowing = {
      ...dependencies,
      redirects: { ...dependencies.redirects, redirectOrigins: new Set([DOCS]) },
    };
    const signIn = async (later: typeof dependencies) => {
      const target = encodeURIComponent(`${DOCS}/page`);
      const { query, cookie } = await startSignIn(
        { dependencies: allowing },
        `redirect_url=${target}`,
      );
      return createCallback(later)(toSignInRequest(query, { cookie }));
    };
    expect((await signIn(allowing)).headers.get('location')).toBe(`${DOCS}/page`);
    expect((await signIn(dependencies)).headers.get('location')).toBe(`${PUBLIC}/`);
  });

  it('begins no session for a person who was signed out everywhere meanwhile, and says so', async () => {
    const { dependencies, clock, store } = createSignInUnderTest();
    const begun = await startSignIn({ dependencies });
    const revoked = await startSignIn({ dependencies });
    const callback = createCallback(dependencies);
    const finish = ({ query, cookie }: typeof begun) =>
      callback(toSignInRequest(query, { cookie }));
    expect((await finish(begun)).headers.get('set-cookie')).toContain(`${COOKIE}=`);
    await store.revokeAll(
      ownerOfPrincipal(ADA_SIGNS_IN.principal),
      { sessionsUpTo: clock.now(), signInsUpTo: clock.now() },
      'session_revoked',
    );
    const response = await finish(revoked);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.headers.get('set-cookie')).not.toContain(`${COOKIE}=`);
  });
});
