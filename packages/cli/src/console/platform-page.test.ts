import { describe, expect, it } from 'vitest';
import { buildPlatformPage, describePlatform } from './platform-page.ts';
import type { ActorView } from './platform-view.ts';

const NOW = Date.UTC(2026, 0, 5, 12);

const ACTOR: ActorView = {
  name: 'operator',
  plane: 'data plane',
  peer: 'cluster',
  protocol: 'Connect',
  readsFrom: 'union.auth',
  secret: 'cloud-secret-auth',
  secretFile: '/state/pods/operator/etc/union/secret/client_secret',
  folder: '/state/pods/operator',
  logFile: '/state/logs/operator.log',
  state: 'calling',
  clientId: 'service',
  knownAs: 'service',
  tokenEndsAt: NOW + 45 * 60_000,
  tokenSince: NOW - 15 * 60_000,
  admitted: 3,
  withoutToken: '401',
  starts: 1,
  startsAgainAt: undefined,
  lastError: undefined,
};

const wordsOf = (changes: Partial<ActorView>) =>
  describePlatform([{ ...ACTOR, ...changes }], NOW).actors[0];

describe('A service on the page of the platform', () => {
  it('is shown with its client, the end and the rest of its token, and how it is refused without one', () => {
    expect(wordsOf({})).toMatchObject({
      client: 'service',
      token: 'in 45 min',
      life: 75,
      rest: '75 % left',
      bare: 'refused (401)',
      calls: '3 admitted',
      error: '',
    });
  });

  it('that is admitted without a token is shown as a fault', () => {
    expect(wordsOf({ withoutToken: 'admitted' })?.bare).toBe('ADMITTED, which is a fault');
  });

  it('that the peer knows by another name than its client’s is shown with both', () => {
    expect(wordsOf({ knownAs: 'another' })?.client).toBe('service, known as another');
  });

  it('without a token has none, and one whose token has ended is shown so', () => {
    expect(wordsOf({ tokenEndsAt: undefined })).toMatchObject({ token: 'none', life: 0 });
    expect(wordsOf({ tokenEndsAt: NOW })).toMatchObject({ token: 'has ended', life: 0 });
  });

  it('is shown with its last error: since when, or that it is over; paths as its pod sees them', () => {
    const words = `${ACTOR.secretFile}: found an empty file`;
    const failing = { words, since: NOW - 90_000, until: undefined };
    expect(wordsOf({ state: 'failing', lastError: failing })).toMatchObject({
      error: '/etc/union/secret/client_secret: found an empty file',
      when: 'For 1 min:',
      isOver: false,
    });
    expect(wordsOf({ lastError: { ...failing, until: NOW - 30_000 } })).toMatchObject({
      when: 'Ended 30 s ago, after 1 min:',
      isOver: true,
    });
  });

  it('that waits is failing, with the time until its next start; what it has not is said so', () => {
    const waiting = { state: 'waiting', clientId: undefined, withoutToken: undefined } as const;
    expect(wordsOf({ ...waiting, startsAgainAt: NOW + 3_500 })).toMatchObject({
      status: 'failing: restarts in 4 s',
      client: 'none',
      bare: 'none',
    });
    expect(wordsOf({ ...waiting, startsAgainAt: undefined })?.status).toBe('failing: restarts now');
    expect(wordsOf({ ...waiting, state: 'starting' })?.client).toBe('…');
  });

  it('whose error names a moment is shown with how long ago that was alone', () => {
    const words =
      'No token was obtained since 2026-01-05T11:59:30.389Z: client authentication failed';
    expect(wordsOf({ lastError: { words, since: NOW - 30_000, until: undefined } })).toMatchObject({
      when: 'For 30 s:',
      error: 'No token was obtained: client authentication failed',
    });
  });

  it('that was started again is shown with how often', () => {
    expect(wordsOf({ starts: 4, admitted: 0 })?.calls).toBe('0 admitted since restart 3');
  });
});

describe('The page of the platform', () => {
  const moodOf = (...states: readonly ActorView['state'][]) =>
    describePlatform(
      states.map((state) => ({ ...ACTOR, state })),
      NOW,
    );

  it.each([
    [['calling', 'calling'], 'well', 'All 2 call their peers, each with a token of its own'],
    [['calling', 'starting'], 'starting', '1 of 2 call their peers, the others are starting'],
    [['failing', 'starting'], 'bad', '0 of 2 call their peers'],
    [['calling', 'waiting'], 'bad', '1 of 2 call their peers'],
  ] as const)('%j: it is %s, and says: %s', (states, mood, summary) => {
    expect(moodOf(...states)).toMatchObject({ mood, summary });
  });

  it('names those that fail at its top, with links to their cards, and nothing where none does', () => {
    const view = [
      { ...ACTOR, name: 'usage' },
      { ...ACTOR, state: 'waiting' as const },
    ];
    const { body } = buildPlatformPage(view, NOW, 'http://127.0.0.1:1');
    expect(body).toContain(
      '<p id="failing">Failing: <span><a href="#operator">operator</a></span>',
    );
    expect(body).toContain('aria-current="page">Platform</a>');
    const calm = buildPlatformPage([ACTOR], NOW, 'http://127.0.0.1:1').body;
    expect(calm).toContain('<p id="failing" hidden>');
    expect(calm).not.toContain('href="#');
  });

  it('shows what services and others say as text, and never as markup', () => {
    const words = '<img src=x onerror=alert(1)>';
    const lastError = { words, since: NOW, until: undefined };
    const { body, headers } = buildPlatformPage(
      [{ ...ACTOR, clientId: words, lastError }],
      NOW,
      'http://127.0.0.1:1',
    );
    expect(body).not.toContain('<img');
    expect(body.match(/&lt;img src=x onerror=alert\(1\)&gt;/g)).toHaveLength(2);
    expect(headers['content-security-policy']).toContain("script-src 'self';");
  });
});
