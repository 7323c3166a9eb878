import { createHash } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import {
  buildSignedInAgainPage,
  SIGNED_IN_SCRIPT,
  type SignedInAgain,
} from './signed-in-again-page.ts';

const ADA: SignedInAgain = { account: '88tQFrWFtGFouLTX', name: 'ada@corp.example' };

const policyOf = (view: SignedInAgain) =>
  buildSignedInAgainPage(view)
    .headers.find(([name]) => name === 'content-security-policy')?.[1]
    ?.split('; ');

/** The script in a window that is as much of one as it takes. */
function runScript() {
  const sent: unknown[] = [];
  const signedIn = { hidden: false, dataset: { account: ADA.account } };
  const other = { hidden: true };
  const heading = { textContent: 'Signed in' };
  const state = { isClosed: false };
  const channel: {
    postMessage: (data: unknown) => void;
    onmessage?: (event: { data: unknown }) => void;
  } = { postMessage: (data) => sent.push(data) };
  runInNewContext(SIGNED_IN_SCRIPT, {
    document: {
      getElementById: (id: string) => (id === 'signed-in' ? signedIn : other),
      querySelector: () => heading,
    },
    BroadcastChannel: function open(name: string) {
      expect(name).toBe('sallyport');
      return channel;
    },
    close: () => Object.assign(state, { isClosed: true }),
  });
  const answer = (data: unknown) => channel.onmessage?.({ data });
  const seen = () => ({
    isClosed: state.isClosed,
    isWarning: signedIn.hidden && !other.hidden,
    heading: heading.textContent,
  });
  return { sent, answer, seen };
}

const STAYS = { isClosed: false, isWarning: false, heading: 'Signed in' };

describe('the page of a pop-up window', () => {
  it('says who signed in as a digest, and that the window can be closed', () => {
    expect(buildSignedInAgainPage(ADA).body).toContain(
      `<p id="signed-in" data-account="${ADA.account}">You are signed in. You can close this window.</p>`,
    );
  });

  it('runs one script, of which its policy has the hash, and no other', () => {
    const hash = createHash('sha256').update(SIGNED_IN_SCRIPT).digest('base64');
    const { body } = buildSignedInAgainPage(ADA);
    expect([...body.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script]) => script)).toEqual([
      SIGNED_IN_SCRIPT,
    ]);
    expect(body.match(/<script/g)).toHaveLength(1);
    expect(policyOf(ADA)).toContain(`script-src 'sha256-${hash}'`);
    expect(policyOf(ADA)).toContain("default-src 'none'");
    expect(policyOf(ADA)?.join(' ')).not.toContain('unsafe');
  });

  it('never reaches for the window that opened it: an IdP may have cut that, and any site can be it', () => {
    expect(SIGNED_IN_SCRIPT).not.toContain('opener');
  });

  it('hides until it is asked for that another account signed in, names it, and offers to sign in once more', () => {
    const { body } = buildSignedInAgainPage(ADA);
    const [, warning = ''] =
      /<div id="other-account" role="alert" hidden>(.*)<\/div>/s.exec(body) ?? [];
    expect(warning).toContain('<strong>ada@corp.example</strong>');
    expect(warning).toContain('The other window was working with another account.');
    expect(warning).toContain('href="/login?mode=popup&amp;prompt=select_account"');
    expect(body.replace(warning, '')).not.toMatch(/ada@|<a /);
  });

  it('is the same for every person but for who signed in', () => {
    const shapeOf = (view: SignedInAgain) =>
      buildSignedInAgainPage(view)
        .body.replaceAll(view.account, 'ACCOUNT')
        .replaceAll(view.name, 'NAME');
    const grace = { account: 'AAAAAAAAAAAAAAAA', name: 'grace@other.example' };
    expect(shapeOf(grace)).toBe(shapeOf(ADA));
    expect(buildSignedInAgainPage(grace).headers).toEqual(buildSignedInAgainPage(ADA).headers);
  });

  it('lets a name be text alone, that reorders nothing', () => {
    const { body } = buildSignedInAgainPage({ ...ADA, name: '<b>\u202egnp.exe\u0007' });
    expect(body).toContain('<strong>&lt;b&gt; gnp.exe </strong>');
    expect(body).not.toMatch(/[^\n\P{Cc}]|\p{Cf}/u);
  });
});

describe('its script', () => {
  it('says that a person signed in, and as which digest', () => {
    // Of another realm: compared as text.
    expect(JSON.stringify(runScript().sent)).toBe(
      JSON.stringify([{ type: 'sallyport:signed-in', account: ADA.account }]),
    );
  });

  it('closes the window when a page of our origin answers to go on', () => {
    const { answer, seen } = runScript();
    answer({ type: 'sallyport:go-on' });
    expect(seen().isClosed).toBe(true);
  });

  it('stays and warns when a page answers that it works for another account', () => {
    const { answer, seen } = runScript();
    answer({ type: 'sallyport:other-account' });
    expect(seen()).toEqual({
      isClosed: false,
      isWarning: true,
      heading: 'This is another account',
    });
  });

  it.each([
    ['no answer'],
    ['the message of another pop-up', { type: 'sallyport:signed-in', account: ADA.account }],
    ['a message of something else', { type: 'close' }],
    ['no object', null],
    ['a text', 'sallyport:go-on'],
  ])('stays as it is for %s', (...[, data]) => {
    const { answer, seen } = runScript();
    if (data !== undefined) answer(data);
    expect(seen()).toEqual(STAYS);
  });
});
