import { listAudienceSpellings } from '@sallyport/config';
import {
  AUDIENCE,
  createSigningKey,
  forgeToken,
  HONEST_CLAIMS,
  ISSUER_SETTINGS,
} from '@sallyport/testing/idp/forge';
import { createBearerUnderTest } from '@sallyport/testing/server/bearer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BearerSettings } from './bearer-settings.ts';

const KEY = createSigningKey('RS256', 'rsa');
const NOT_ACCEPTED = {
  outcome: 'refused',
  reason: 'bearer_not_accepted',
  token: expect.anything(),
};
const honest = (claims: Readonly<Record<string, unknown>>) =>
  forgeToken(KEY, { ...HONEST_CLAIMS, ...claims });
const setup = (settings: Partial<BearerSettings>) => createBearerUnderTest([KEY.jwk], settings);

describe('an access token', () => {
  it('RFC 7519 section 2: whose audience is spelled in no listed way is refused, whatever it is a spelling of', async () => {
    const audiences = [AUDIENCE, 'http://core-admin:80', 'api://core', 'HTTPS://Mixed.example'];
    const { ask } = await setup({ issuers: [{ ...ISSUER_SETTINGS, audiences }] });
    const listed = new Set(audiences.flatMap(listAudienceSpellings));
    for (const aud of listed)
      expect(await ask(honest({ aud }))).toMatchObject({ outcome: 'admitted' });
    const change = fc.constantFrom<(aud: string) => string>(
      (aud) => aud.toUpperCase(),
      (aud) => aud.toLowerCase(),
      (aud) => aud.replace('://', ':'),
      (aud) => aud.replace('://', '://@'),
      (aud) => aud.replace('://', ':////'),
      (aud) => aud.replace('-', '%2D'),
      (aud) => aud.replace('e', '%65'),
      (aud) => aud.replace(/:80$/, ':080'),
      (aud) => `${aud}/`,
      (aud) => `${aud}/.`,
      (aud) => `${aud}/x/..`,
      (aud) => `${aud}?`,
      (aud) => `${aud}#`,
      (aud) => ` ${aud}`,
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...listed),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        async (base, changes) => {
          const aud = changes.reduce((text, apply) => apply(text), base);
          const { outcome } = await ask(honest({ aud }));
          expect([aud, outcome]).toEqual([aud, listed.has(aud) ? 'admitted' : 'refused']);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('that is an id_token of a client whose id reads like an audience is refused', async () => {
    const issuer = { ...ISSUER_SETTINGS, audiences: [AUDIENCE, 'https://web.example'] };
    const { ask } = await setup({
      issuers: [issuer],
      interactiveClientIds: ['https://web.example/'],
    });
    expect(await ask(honest({ aud: 'https://web.example' }))).toMatchObject({
      outcome: 'admitted',
    });
    expect(await ask(honest({ aud: 'https://web.example/' }))).toEqual(NOT_ACCEPTED);
  });
});
