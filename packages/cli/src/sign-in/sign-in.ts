/**
 * A person signs in: the flow that was chosen, what is shown meanwhile, and the way over to another.
 *
 * @module
 */

import type {
  Grant,
  InteractivePorts,
  SignInPrompt,
  TokenRefusal,
  TokenSet,
} from '@sallyport/client';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { PersonalFlow } from '../profile/cached-login.ts';
import type { KeyboardListeners } from '../terminal/keyboard.ts';
import type { WaitingLine } from '../terminal/waiting-line.ts';
import type { FlowChoice } from './flow.ts';

/** The part of a grant's ports that a person stands behind. */
export type PersonPorts = Pick<InteractivePorts, 'show' | 'openBrowser' | 'pasted'>;

/** Makes the grants a person can use. */
export interface PersonGrants {
  pkce(ports: PersonPorts): Grant;
  /** Absent when the identity provider has no device codes. */
  readonly deviceCode?: (ports: PersonPorts) => Grant;
}

/** The person's side. */
export interface SignInPorts {
  readonly say: (line: string) => void;
  /** Says whether the program could be started. */
  readonly openBrowser: (url: string) => Promise<boolean>;
  /** Begins to wait, below what was said. */
  readonly wait: (text: string) => WaitingLine;
  /** Reads keys until the returned function is called; absent without a terminal. */
  readonly keyboard?: (listeners: KeyboardListeners) => () => void;
  /** Draws an address, where that is wanted and fits. */
  readonly qrCode: (url: string) => readonly string[] | undefined;
  readonly schedule: (afterMs: number, callback: () => void) => () => void;
  readonly interrupt: () => void;
}

/** What came of it. */
export interface SignedIn {
  readonly tokens: TokenSet;
  readonly flow: PersonalFlow;
}

type PersonalChoice = Extract<FlowChoice, { readonly flow: 'pkce' | 'device_code' }>;

/** A browser that has not come back by now may not be there at all. */
const HINT_AFTER_MS = 20_000;

/**
 * Signs in. From the browser flow there is a way over to a device code: the key `d`, and, when the
 * flow was not asked for by name, a redirect port that another program has.
 *
 * @param signal - Ends it; nothing is left behind.
 */
export async function signInPerson(
  grants: PersonGrants,
  choice: PersonalChoice,
  ports: SignInPorts,
  signal: AbortSignal,
): Promise<Result<SignedIn, TokenRefusal>> {
  if (choice.flow === 'device_code') return signInByCode(grants, ports, signal);
  const outcome = await signInByBrowser(grants, choice, ports, signal);
  if (outcome === 'wants_code') return signInByCode(grants, ports, signal);
  const isPortTaken = !outcome.ok && outcome.error.error === 'redirect_port_in_use';
  if (!isPortTaken || grants.deviceCode === undefined || choice.because === 'asked for')
    return outcome;
  ports.say(outcome.error.description);
  ports.say('Going on with a device code instead.');
  return signInByCode(grants, ports, signal);
}

async function signInByBrowser(
  grants: PersonGrants,
  choice: Extract<PersonalChoice, { readonly flow: 'pkce' }>,
  ports: SignInPorts,
  signal: AbortSignal,
): Promise<Result<SignedIn, TokenRefusal> | 'wants_code'> {
  const hasCode = grants.deviceCode !== undefined;
  const ownEnd = new AbortController();
  let wantsCode = false;
  let takePasted: ((text: string) => void) | undefined;
  const screen = createScreen(ports);
  const closeKeyboard = ports.keyboard?.({
    onKey(key) {
      if (key !== 'd' || !hasCode) return;
      wantsCode = true;
      ownEnd.abort(new Error('a code is wanted'));
    },
    onLine: (line) => takePasted?.(line),
    onInterrupt: ports.interrupt,
  });
  const cancelHint = ports.schedule(HINT_AFTER_MS, () =>
    screen.say(hintWithoutBrowser(closeKeyboard !== undefined, hasCode)),
  );
  const grant = grants.pkce({
    show: (prompt) => screen.show(prompt, choice.opensBrowser),
    async openBrowser(url) {
      if (!choice.opensBrowser || (await ports.openBrowser(url))) return;
      screen.say(['No browser could be started. Open the address above yourself.']);
    },
    pasted(take) {
      takePasted = take;
      return () => {
        takePasted = undefined;
      };
    },
  });
  try {
    const result = await grant.obtain({ signal: AbortSignal.any([signal, ownEnd.signal]) });
    if (result.ok) return accept({ tokens: result.value, flow: 'pkce' });
    return wantsCode ? 'wants_code' : result;
  } catch (error) {
    if (wantsCode) return 'wants_code';
    throw error;
  } finally {
    cancelHint();
    screen.end();
    closeKeyboard?.();
  }
}

function hintWithoutBrowser(hasKeyboard: boolean, hasCode: boolean): readonly string[] {
  if (!hasKeyboard) return ['Still waiting for the browser.'];
  const paste = 'Or paste here the address the browser ended on.';
  return hasCode ? ['No browser? Press d for a device code.', paste] : [paste];
}

async function signInByCode(
  grants: PersonGrants,
  ports: SignInPorts,
  signal: AbortSignal,
): Promise<Result<SignedIn, TokenRefusal>> {
  if (grants.deviceCode === undefined) {
    return refuse({
      error: 'unsupported_grant_type',
      description: 'The identity provider offers no device codes.',
      hint: 'Sign in with --flow pkce.',
    });
  }
  const screen = createScreen(ports);
  const grant = grants.deviceCode({ show: (prompt) => screen.show(prompt, false) });
  const closeKeyboard = ports.keyboard?.({
    onKey: () => {},
    onLine: () => {},
    onInterrupt: ports.interrupt,
  });
  try {
    const result = await grant.obtain({ signal });
    return result.ok ? accept({ tokens: result.value, flow: 'device_code' }) : result;
  } finally {
    screen.end();
    closeKeyboard?.();
  }
}

/** Lines above, and what is waited for below them. */
function createScreen(ports: SignInPorts): {
  say(lines: readonly string[]): void;
  show(prompt: SignInPrompt, opensBrowser: boolean): void;
  end(): void;
} {
  let waiting: WaitingLine | undefined;
  const say = (lines: readonly string[]): void => {
    if (waiting === undefined) for (const line of lines) ports.say(line);
    else waiting.say(lines);
  };
  const wait = (text: string): void => {
    if (waiting === undefined) waiting = ports.wait(text);
    else waiting.update(text);
  };
  return {
    say,
    show(prompt, opensBrowser) {
      switch (prompt.kind) {
        case 'browser':
          say([
            opensBrowser ? 'Opening the browser at' : 'Open this address in a browser:',
            `  ${prompt.url}`,
            ...(ports.qrCode(prompt.url) ?? []),
          ]);
          wait('waiting for the browser; Ctrl-C ends it');
          break;
        case 'device_code': {
          const hasCodeInIt = prompt.verificationUriComplete !== undefined;
          const url = prompt.verificationUriComplete ?? prompt.verificationUri;
          say([
            'Open this address in a browser, on any device:',
            `  ${url}`,
            `and ${hasCodeInIt ? 'confirm' : 'enter'} the code  ${prompt.userCode}`,
            ...(ports.qrCode(url) ?? []),
          ]);
          wait('waiting until the code is confirmed; Ctrl-C ends it');
          break;
        }
        case 'paste_refused':
          say([prompt.description]);
          break;
        case 'answer_received':
          wait('signing in');
          break;
      }
    },
    end: () => waiting?.end(),
  };
}
