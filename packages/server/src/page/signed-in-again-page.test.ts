import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  buildSignedInAgainPage,
  SIGNED_IN_SCRIPT,
  type SignedInAgain,
} from './signed-in-again-page.ts';

const ADA: SignedInAgain = {
  account: '88tQFrWFtGFouLTX',
  name: 'ada@corp.example',
  otherAccountUrl: undefined,
};
const OTHER_URL = '/login?redirect_url=x&prompt=select_account';

const policyOf = (view: SignedInAgain) =>
  buildSignedInAgainPage(view)
    .headers.find(([name]) => name === 'content-security-policy')?.[1]
    ?.split('; ');

describe('the page of a pop-up window', () => {
  it.each([
    ['closes', ADA, 'yes'],
    ['stays when it is another account', { ...ADA, otherAccountUrl: OTHER_URL }, 'no'],
  ])('says who signed in as a digest, and %s', (_, view, closes) => {
    const { body } = buildSignedInAgainPage(view);
    expect(body).toContain(
      `<p id="signed-in" data-account="${ADA.account}" data-closes="${closes}">`,
    );
  });

  it('runs one script, of which its policy has the hash, and no other', () => {
    const hash = createHash('sha256').update(SIGNED_IN_SCRIPT).digest('base64');
    for (const view of [ADA, { ...ADA, otherAccountUrl: OTHER_URL, name: 'x' }]) {
      const { body } = buildSignedInAgainPage(view);
      expect([...body.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script]) => script)).toEqual([
        SIGNED_IN_SCRIPT,
      ]);
      expect(body.match(/<script/g)).toHaveLength(1);
      expect(policyOf(view)).toContain(`script-src 'sha256-${hash}'`);
      expect(policyOf(view)).toContain("default-src 'none'");
      expect(policyOf(view)?.join(' ')).not.toContain('unsafe');
    }
  });

  it('never reaches for the window that opened it: an IdP may have cut that', () => {
    expect(SIGNED_IN_SCRIPT).not.toContain('opener');
  });

  it('says without a script that the window can be closed', () => {
    expect(buildSignedInAgainPage(ADA).body).toContain(
      'You are signed in. You can close this window.',
    );
  });

  it('warns when another account signed in, names it, and offers to sign in once more', () => {
    const { body } = buildSignedInAgainPage({ ...ADA, otherAccountUrl: OTHER_URL });
    expect(body).toContain('<strong>ada@corp.example</strong>');
    expect(body).toContain('somebody else');
    expect(body).toContain(`href="${OTHER_URL.replace('&', '&amp;')}"`);
    expect(buildSignedInAgainPage(ADA).body).not.toContain('somebody else');
  });

  it('lets a name be text alone', () => {
    const name = '<script>alert(1)</script>';
    const { body } = buildSignedInAgainPage({ ...ADA, name, otherAccountUrl: OTHER_URL });
    expect(body).not.toContain(name);
    expect(body).toContain('&lt;script&gt;');
  });
});
