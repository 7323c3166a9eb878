/**
 * Signing a person in on this machine: chooses the flow, runs it, keeps the tokens.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Interruption } from '../process/interruption.ts';
import { type Failure, loginRequiredFailure, toFailure } from '../terminal/report.ts';
import { EXIT, type Stdio } from '../terminal/stdio.ts';
import type { BrowserCommand } from './browser.ts';
import { type FlowChoice, type RequestedFlow, selectFlow } from './flow.ts';
import type { DiscoveredPlatform, Platform } from './platform.ts';
import { readSessionEnvironment } from './session-environment.ts';
import { type SignedIn, signInPerson } from './sign-in.ts';
import { createTerminal } from './terminal-ports.ts';

/** What the command line says about it. */
export interface SignInOptions {
  readonly flow: RequestedFlow;
  /** `undefined` picks the system's; `false` opens none. */
  readonly browser?: BrowserCommand | false;
  readonly qr?: boolean;
}

/** What came of it, and where the tokens went. */
export interface SignedInHere extends SignedIn {
  /** Sentences to say once it is said that it has gone through. */
  readonly notices: readonly string[];
}

/**
 * Signs in and keeps the tokens.
 *
 * @returns Otherwise why not; nothing was kept then. Where no person can be asked, exit code 4 and what
 *   to set instead.
 * @throws {SallyportError} When the identity provider cannot be reached, or the store cannot be used.
 */
export async function signIn(
  platform: Platform,
  discovered: DiscoveredPlatform,
  { flow: requested, browser, qr }: SignInOptions,
  stdio: Stdio,
  interruption: Interruption,
): Promise<Result<SignedInHere, Failure>> {
  const { environment } = platform;
  const sessionEnvironment = readSessionEnvironment(environment, stdio.isInteractive);
  const choice = selectFlow({
    requested: requested === 'auto' && platform.grantKind === 'device_code' ? 'device' : requested,
    sessionEnvironment,
    hasCredentials: false,
    hasDeviceEndpoint: (discovered.metadata?.deviceAuthorizationEndpoint ?? '') !== '',
    isBrowserRefused: browser === false,
    isBrowserNamed: browser !== undefined && browser !== false,
  });
  if (choice.flow === 'credentials') throw new TypeError('credentials need no person');
  if (choice.flow === 'none') return refuse(toRefusedLogin(choice.reason, platform));
  await platform.prepareToKeep(discovered, interruption.signal);
  const ports = createTerminal(
    { browser: browser === false ? undefined : browser, isQrWanted: qr === true },
    environment,
    stdio,
    interruption,
  );
  if (choice.because !== 'asked for' && choice.because !== 'a browser was named')
    ports.say(describeChoice(choice));
  for (const line of describeTunnel(choice, discovered)) ports.say(line);
  const result = await signInPerson(
    platform.grantsOf(discovered),
    choice,
    ports,
    interruption.signal,
  );
  if (interruption.signal.aborted) {
    return refuse({
      error: 'interrupted',
      description: 'interrupted',
      hint: '',
      exitCode: EXIT.interrupted,
    });
  }
  if (!result.ok) return refuse(toFailure(result.error));
  const notices: string[] = [];
  await platform.keep(discovered, result.value.tokens, (sentence) => notices.push(sentence));
  return accept({ ...result.value, notices });
}

function toRefusedLogin(
  reason: Extract<FlowChoice, { flow: 'none' }>['reason'],
  { endpoint, loginCommand }: Platform,
): Failure {
  switch (reason) {
    case 'ci':
      return loginRequiredFailure(
        'CI is set, so an interactive sign-in is not possible',
        endpoint,
        loginCommand,
      );
    case 'no_terminal':
      return loginRequiredFailure('there is no terminal to sign in on', endpoint, loginCommand);
    case 'no_device_endpoint':
      return {
        error: 'unsupported_grant',
        description: 'The identity provider offers no device codes.',
        hint: 'Sign in with --flow pkce.',
        exitCode: EXIT.failure,
      };
  }
}

function describeChoice(choice: Extract<FlowChoice, { flow: 'pkce' | 'device_code' }>): string {
  const how = choice.flow === 'pkce' ? 'in the browser' : 'with a device code';
  return `Signing in ${how}: ${choice.because}.`;
}

/** Without a browser here and without device codes, the callback has to find its way through SSH. */
function describeTunnel(choice: FlowChoice, { metadata }: DiscoveredPlatform): readonly string[] {
  if (choice.flow !== 'pkce' || choice.opensBrowser) return [];
  const port = URL.parse(metadata?.redirectUri ?? '')?.port ?? '';
  return [
    `The browser has to reach port ${port} of this machine. From another one:`,
    `  ssh -L ${port}:localhost:${port} <this machine>`,
  ];
}
