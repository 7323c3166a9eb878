import type { Grant, TokenRefusal, TokenSet } from '@sallyport/client';
import { accept, refuse } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import type { KeyboardListeners } from '../terminal/keyboard.ts';
import { type PersonGrants, type PersonPorts, type SignInPorts, signInPerson } from './sign-in.ts';

const TOKENS: TokenSet = {
  accessToken: 'a',
  expiresAt: 1,
  obtainedAt: 0,
  refreshToken: undefined,
  scopes: [],
};
const PKCE = { flow: 'pkce', opensBrowser: true, because: 'this machine has a browser' } as const;

/** A sign-in at a table: grants and the person are both this test. */
function sit(options: { keyboard?: boolean; deviceCodes?: boolean; browserStarts?: boolean } = {}) {
  const { keyboard = true, deviceCodes = true, browserStarts = true } = options;
  const events: string[] = [];
  const timers: (() => void)[] = [];
  let keys: KeyboardListeners | undefined;
  let person: PersonPorts | undefined;
  let answer: (result: Awaited<ReturnType<Grant['obtain']>>) => void = () => {};
  const grant =
    (kind: 'pkce' | 'device_code') =>
    (ports: PersonPorts): Grant => {
      person = ports;
      return {
        kind,
        isInteractive: true,
        obtain: ({ signal } = {}) =>
          new Promise((resolve) => {
            events.push(`${kind} begins`);
            answer = resolve;
            signal?.addEventListener('abort', () => {
              events.push(`${kind} is ended`);
              resolve(refuse({ error: 'login_cancelled', description: '', hint: '' }));
            });
          }),
      };
    };
  const grants: PersonGrants = {
    pkce: grant('pkce'),
    ...(deviceCodes ? { deviceCode: grant('device_code') } : {}),
  };
  const ports: SignInPorts = {
    say: (line) => events.push(line),
    openBrowser: async (url) => {
      events.push(`open ${url}`);
      return browserStarts;
    },
    wait(text) {
      events.push(`wait: ${text}`);
      return {
        say: (lines) => events.push(...lines),
        update: (next) => events.push(`wait: ${next}`),
        end: () => events.push('wait ends'),
      };
    },
    ...(keyboard
      ? {
          keyboard: (listeners) => {
            keys = listeners;
            return () => events.push('keyboard closed');
          },
        }
      : {}),
    qrCode: () => undefined,
    schedule(afterMs, callback) {
      events.push(`timer ${afterMs}`);
      timers.push(callback);
      return () => events.push('timer cancelled');
    },
    interrupt: () => events.push('interrupt'),
  };
  return {
    events,
    grants,
    ports,
    timers,
    keys: () => keys,
    person: () => person,
    answer: (result: Awaited<ReturnType<Grant['obtain']>>) => answer(result),
  };
}

const refusal = (error: string): TokenRefusal => ({ error, description: `${error}.`, hint: '' });
const never = new AbortController().signal;

describe('Signing in by browser', () => {
  it('shows the address before it opens it, and tidies up', async () => {
    const table = sit();
    const signingIn = signInPerson(table.grants, PKCE, table.ports, never);
    table.person()?.show({ kind: 'browser', url: 'https://idp', redirectUri: 'r' });
    await table.person()?.openBrowser?.('https://idp');
    table.answer(accept(TOKENS));
    expect(await signingIn).toEqual(accept({ tokens: TOKENS, flow: 'pkce' }));
    const { events } = table;
    expect(events.indexOf('  https://idp')).toBeLessThan(events.indexOf('open https://idp'));
    expect(events.slice(-3)).toEqual(['timer cancelled', 'wait ends', 'keyboard closed']);
  });

  it('opens none when none is to be opened', async () => {
    const table = sit();
    const choice = { ...PKCE, opensBrowser: false };
    const signingIn = signInPerson(table.grants, choice, table.ports, never);
    table.person()?.show({ kind: 'browser', url: 'https://idp', redirectUri: 'r' });
    await table.person()?.openBrowser?.('https://idp');
    table.answer(accept(TOKENS));
    await signingIn;
    expect(table.events).toContain('  https://idp');
    expect(table.events).not.toContain('open https://idp');
  });

  it('says when no browser could be started', async () => {
    const table = sit({ browserStarts: false });
    const signingIn = signInPerson(table.grants, PKCE, table.ports, never);
    await table.person()?.openBrowser?.('https://idp');
    table.answer(accept(TOKENS));
    await signingIn;
    expect(table.events.join()).toContain('No browser could be started');
  });

  it.each([
    [true, true, 'No browser? Press d for a device code.'],
    [true, false, 'Or paste here the address the browser ended on.'],
    [false, true, 'Still waiting for the browser.'],
  ])('after 20 s, keyboard %s and device codes %s: %s', async (keyboard, deviceCodes, said) => {
    const table = sit({ keyboard, deviceCodes });
    const signingIn = signInPerson(table.grants, PKCE, table.ports, never);
    expect(table.events).toContain('timer 20000');
    expect(table.events).not.toContain(said);
    table.timers[0]?.();
    expect(table.events).toContain(said);
    table.answer(accept(TOKENS));
    await signingIn;
  });

  it('d ends it and goes over to a device code; another key does not', async () => {
    const table = sit();
    const signingIn = signInPerson(table.grants, PKCE, table.ports, never);
    table.keys()?.onKey('x');
    expect(table.events).not.toContain('pkce is ended');
    table.keys()?.onKey('d');
    await Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect(table.events).toContain('device_code begins');
    table.answer(accept(TOKENS));
    expect(await signingIn).toEqual(accept({ tokens: TOKENS, flow: 'device_code' }));
  });

  it('d does nothing where there are no device codes', async () => {
    const table = sit({ deviceCodes: false });
    const signingIn = signInPerson(table.grants, PKCE, table.ports, never);
    table.keys()?.onKey('d');
    table.answer(accept(TOKENS));
    expect((await signingIn).ok).toBe(true);
  });

  it('hands a pasted line to the grant while it takes one', async () => {
    const table = sit();
    const taken: string[] = [];
    const signingIn = signInPerson(table.grants, PKCE, table.ports, never);
    const stop = table.person()?.pasted?.((text) => taken.push(text));
    table.keys()?.onLine('one');
    stop?.();
    table.keys()?.onLine('two');
    table.answer(accept(TOKENS));
    await signingIn;
    expect(taken).toEqual(['one']);
  });

  it('a taken port goes over to a device code, unless the browser was asked for', async () => {
    const table = sit();
    const signingIn = signInPerson(table.grants, PKCE, table.ports, never);
    table.answer(refuse(refusal('redirect_port_in_use')));
    await new Promise((resolve) => setImmediate(resolve));
    expect(table.events).toContain('device_code begins');
    table.answer(accept(TOKENS));
    expect((await signingIn).ok).toBe(true);

    const asked = sit();
    const other = signInPerson(asked.grants, { ...PKCE, because: 'asked for' }, asked.ports, never);
    asked.answer(refuse(refusal('redirect_port_in_use')));
    expect(await other).toEqual(refuse(refusal('redirect_port_in_use')));
  });

  it('any other refusal is the outcome', async () => {
    const table = sit();
    const signingIn = signInPerson(table.grants, PKCE, table.ports, never);
    table.answer(refuse(refusal('access_denied')));
    expect(await signingIn).toEqual(refuse(refusal('access_denied')));
    expect(table.events).not.toContain('device_code begins');
  });

  it('the end of the command ends it, and Ctrl-C as a key asks for that', async () => {
    const table = sit();
    const controller = new AbortController();
    const signingIn = signInPerson(table.grants, PKCE, table.ports, controller.signal);
    table.keys()?.onInterrupt();
    expect(table.events).toContain('interrupt');
    controller.abort();
    expect(await signingIn).toMatchObject({ ok: false, error: { error: 'login_cancelled' } });
    expect(table.events).toContain('keyboard closed');
  });
});

describe('Signing in with a device code', () => {
  it.each([
    ['https://idp/d?user_code=AB', 'https://idp/d?user_code=AB'],
    [undefined, 'https://idp/d'],
  ])('shows the code always; with the complete address %s it shows %s', async (complete, shown) => {
    const table = sit();
    const choice = { flow: 'device_code', because: 'asked for' } as const;
    const signingIn = signInPerson(table.grants, choice, table.ports, never);
    table.person()?.show({
      kind: 'device_code',
      userCode: 'AB',
      verificationUri: 'https://idp/d',
      verificationUriComplete: complete,
      expiresAt: 1,
    });
    table.answer(accept(TOKENS));
    expect((await signingIn).ok).toBe(true);
    expect(table.events).toContain(`  ${shown}`);
    const verb = complete === undefined ? 'enter' : 'confirm';
    expect(table.events).toContain(`and ${verb} the code  AB`);
  });

  it('is refused where there are none', async () => {
    const table = sit({ deviceCodes: false });
    const choice = { flow: 'device_code', because: 'asked for' } as const;
    expect(await signInPerson(table.grants, choice, table.ports, never)).toMatchObject({
      ok: false,
      error: { error: 'unsupported_grant_type' },
    });
  });
});
