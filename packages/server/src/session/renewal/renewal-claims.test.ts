import { ADA, ADA_SIGNS_IN, LIFETIMES } from '@sallyport/testing/server/people';
import { setupTwo } from '@sallyport/testing/server/renewal';
import { describe, expect, it } from 'vitest';
import { selectEmail } from '../../verdict/access.ts';
import type { RenewalOutcome } from './renewal.ts';

const BY_US: RenewalOutcome = { kind: 'renewed', byUs: true };

describe('claims of a renewal', () => {
  it('are those of the answer from now on', async () => {
    const { idp, ada, one, look } = await setupTwo();
    idp.claims = { name: 'Ada King', groups: [] };
    await one.renew(ada);
    expect((await look(ada))?.session).toMatchObject({
      user: { name: 'Ada King', givenName: '', email: '' },
      claims: { groups: [] },
      principal: ADA_SIGNS_IN.principal,
    });
  });

  it('stay as they are when they could not be had this time', async () => {
    const { clock, idp, ada, one, look } = await setupTwo();
    clock.advance(480_000);
    idp.claims = {};
    idp.isPartial = true;
    expect(await one.renew(ada)).toEqual(BY_US);
    expect((await look(ada))?.session).toMatchObject({
      user: ADA,
      claims: ADA_SIGNS_IN.claims,
      validUntil: clock.now() + LIFETIMES.revalidateAfterMs + LIFETIMES.renewalGraceMs,
    });
  });

  const PART = { name: 'Ada King', team: 'b', groups: ['guests'] };
  const SIGNS_IN = { user: { ...ADA, additionalClaims: { office: 'London', team: 'a' } } };

  it('of a part of the answer stand over the former ones, which stand beside them', async () => {
    const { idp, signIn, one, look } = await setupTwo();
    const ada = await signIn(SIGNS_IN);
    Object.assign(idp, { claims: PART, isPartial: true });
    expect(await one.renew(ada)).toEqual(BY_US);
    const renewed = (await look(ada))?.session;
    expect(renewed?.claims).toEqual({ ...ADA_SIGNS_IN.claims, groups: ['guests'] });
    const additionalClaims = { office: 'London', team: 'b' };
    expect(renewed?.user).toEqual({ ...ADA, name: 'Ada King', additionalClaims });
  });

  it('of a whole answer stand alone: claims that it no longer holds are removed', async () => {
    const { idp, signIn, one, look } = await setupTwo();
    const ada = await signIn(SIGNS_IN);
    idp.claims = PART;
    expect(await one.renew(ada)).toEqual(BY_US);
    const renewed = (await look(ada))?.session;
    expect(renewed?.claims).toEqual({ groups: ['guests'] });
    expect(renewed?.user.additionalClaims).toEqual({ team: 'b' });
  });

  it.each([
    ['an address that the former answer verified', { email: ADA.email }, ADA.email],
    ['another address, which the former answer did not verify', { email: 'ceo@corp.example' }, ''],
    ['a verification that is taken back', { email_verified: false }, ''],
  ])('of a part of the answer, %s: one answer says whether it counts', async (_, claims, email) => {
    const { idp, ada, one, look } = await setupTwo();
    Object.assign(idp, { claims, isPartial: true });
    expect(await one.renew(ada)).toEqual(BY_US);
    const renewed = (await look(ada))?.session;
    expect(renewed?.user.email).toBe(email);
    expect(selectEmail(renewed?.claims ?? {}, false)).toBe(email);
  });

  it('of a part of the answer verify no address that was not verified before', async () => {
    const { idp, signIn, one, look } = await setupTwo();
    const ada = await signIn({
      user: { ...ADA, email: '' },
      claims: { email: 'ceo@corp.example', email_verified: false },
    });
    Object.assign(idp, { claims: { email_verified: true }, isPartial: true });
    expect(await one.renew(ada)).toEqual(BY_US);
    const renewed = (await look(ada))?.session;
    expect(renewed?.user.email).toBe('');
    expect(renewed?.claims).toEqual({ email_verified: true });
  });
});
