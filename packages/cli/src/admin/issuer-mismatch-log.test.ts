import { loadConfig } from '@sallyport/config';
import { IssuerMismatch } from '@sallyport/server/issuer';
import { describe, expect, it } from 'vitest';
import { logIssuerMismatch } from './issuer-mismatch-log.ts';

const ISSUER = 'https://idp.example.com';

function open() {
  const env = {
    PUBLIC_URL: 'https://platform.example.com',
    OIDC_BASE_URL: ISSUER,
    OIDC_CLIENT_ID: 'web',
    CLI_CLIENT_ID: 'native',
  };
  const loaded = loadConfig({ env, flags: {} }, 'serve');
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  const lines: unknown[] = [];
  const clock = { now: 0 };
  const report = logIssuerMismatch(
    loaded.value.config,
    (level, event, fields) => lines.push([level, event, fields]),
    () => clock.now,
  );
  return { lines, clock, report };
}

describe('An issuer that names itself otherwise', () => {
  it('has one line a minute, with both values and the settings of the configured one', () => {
    const { lines, clock, report } = open();
    for (const now of [0, 5_000, 59_999]) {
      clock.now = now;
      report(new IssuerMismatch(ISSUER, `${ISSUER}/`));
    }
    expect(lines).toEqual([
      [
        'error',
        'issuer_mismatch',
        {
          issuer: ISSUER,
          found: `${ISSUER}/`,
          keys: ['auth.userAuth.openId.baseUrl', 'auth.appAuth.externalAuthServer.baseUrl'],
          detail: `configured ${ISSUER}, found ${ISSUER}/: they differ in the slash at the end alone, configure the one that was found`,
        },
      ],
    ]);
    clock.now = 60_000;
    report(new IssuerMismatch(ISSUER, `${ISSUER}/`));
    expect(lines).toHaveLength(2);
  });

  it('does not silence the line of another issuer', () => {
    const { lines, report } = open();
    report(new IssuerMismatch(ISSUER, 'https://a.example.com'));
    report(new IssuerMismatch('https://b.example.com', 'https://a.example.com'));
    expect(lines).toHaveLength(2);
  });

  it.each([undefined, null, 7, ['x'], { a: 1 }, 'two words\u001b[2J', 'x'.repeat(5_000)])(
    'may name itself by anything (%j): the line stays short and printable',
    (found) => {
      const { lines, report } = open();
      report(new IssuerMismatch(ISSUER, found));
      const fields = (lines as [string, string, Record<string, string | null>][])[0]?.[2] ?? {};
      const text = Object.values(fields).flat().join(' ');
      expect(text.length).toBeLessThan(1_000);
      expect(text).not.toContain('\u001b');
    },
  );
});
