import { createHash } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessToken, BEARER_HEADER } from '../wire/bearer.ts';
import { exchange } from '../wire/exchange.ts';
import { type Forge, HONEST_HEADER, rs256, writeJws } from '../wire/forge.ts';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import { type Service, startService } from '../wire/platform.ts';
import { expectAccepted, expectRefused } from '../wire/sign-in.ts';

/** A key pair of the IdP's under a name, and the honest id_token that it signs. */
async function createKey(kid: string): Promise<{ readonly jwk: JWK; readonly forge: Forge }> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  return {
    jwk: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' },
    forge: ({ claims }) => writeJws({ ...HONEST_HEADER, kid }, claims, rs256(privateKey)),
  };
}

describe('The keys of id_tokens', () => {
  let clock: MovedClock;
  let service: Service;
  beforeAll(async () => {
    clock = await startMovedClock();
    service = await startService({}, [], { clock });
  });
  afterAll(async () => {
    await service.stop();
    await clock.close();
  });

  it('that replace one another within half a minute count at once, each', async () => {
    for (let rotation = 1; rotation <= 3; rotation += 1) {
      const key = await createKey(`rotation-${rotation}`);
      service.idp.keys = [key.jwk];
      await expectAccepted(service, { forge: key.forge });
    }
  });

  it('count at once also while strangers send tokens with made-up key ids, and those that are not published never', async () => {
    for (let forged = 0; forged < 20; forged += 1) {
      const bearer = await accessToken(service.idp, service.url, {}, { kid: `made-up-${forged}` });
      const headers = { [BEARER_HEADER]: `Bearer ${bearer}` };
      expect([401, 503]).toContain((await exchange(`${service.url}/me`, { headers })).status);
    }
    const [published, unpublished] = [await createKey('flooded'), await createKey('unpublished')];
    service.idp.keys = [published.jwk];
    await expectAccepted(service, { forge: published.forge });
    service.idp.keys = [];
    await expectRefused(service, { forge: unpublished.forge });
  });

  it('count under an id that another one has, too, after half a minute', async () => {
    const second = await createKey('k1');
    service.idp.keys = [second.jwk];
    await clock.advance(30_000);
    await expectAccepted(service, { forge: second.forge });
    await expectAccepted(service, {});
  });

  it('count no more half a minute after they were withdrawn', async () => {
    const key = await createKey('withdrawn');
    service.idp.keys = [key.jwk];
    await expectAccepted(service, { forge: key.forge });
    service.idp.keys = [];
    await clock.advance(30_000);
    await expectRefused(service, { forge: key.forge });
  });

  it('are none with exponent 1: whatever is encoded right would be signed', async () => {
    service.idp.keys = [{ ...service.idp.publicJwk, kid: 'one', e: 'AQ' }];
    await clock.advance(30_000);
    await expectRefused(service, {
      forge: ({ claims }) =>
        writeJws({ ...HONEST_HEADER, kid: 'one' }, claims, (input) => encodePkcs1(input)),
    });
  });
});

/** RFC 8017 section 9.2: the text whose power with exponent 1 is itself. */
function encodePkcs1(input: string): Buffer {
  const digest = createHash('sha256').update(input).digest();
  const info = Buffer.concat([
    Buffer.from('3031300d060960864801650304020105000420', 'hex'),
    digest,
  ]);
  const padding = Buffer.alloc(256 - info.length - 3, 0xff);
  return Buffer.concat([Buffer.from([0, 1]), padding, Buffer.from([0]), info]);
}
