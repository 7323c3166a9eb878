/**
 * Which way to sign in.
 *
 * @module
 */

import type { SessionEnvironment } from './session-environment.ts';

/** What `--flow` takes. */
export type RequestedFlow = 'auto' | 'pkce' | 'device';

/** What is known when the way is chosen. */
export interface FlowQuestion {
  readonly requested: RequestedFlow;
  readonly sessionEnvironment: SessionEnvironment;
  /** Whether credentials of an application are configured: then no person is needed. */
  readonly hasCredentials: boolean;
  /** Whether the identity provider offers device codes. */
  readonly hasDeviceEndpoint: boolean;
  /** `--no-browser` was given. */
  readonly isBrowserRefused: boolean;
  /** `--browser` was given. */
  readonly isBrowserNamed: boolean;
}

/** The way, and why it is that one. */
export type FlowChoice =
  | { readonly flow: 'credentials' }
  | { readonly flow: 'pkce'; readonly opensBrowser: boolean; readonly because: string }
  | { readonly flow: 'device_code'; readonly because: string }
  | {
      readonly flow: 'none';
      readonly reason: 'ci' | 'no_terminal' | 'no_device_endpoint';
    };

/**
 * Chooses the way to sign in.
 *
 * Credentials of an application win: they need no person. A build server never signs a person in,
 * whatever is asked for. Without a terminal only a flow or a browser that was named counts: a script that waits for a
 * person must have meant to.
 */
export function selectFlow(question: FlowQuestion): FlowChoice {
  const { requested, sessionEnvironment, hasDeviceEndpoint } = question;
  if (question.hasCredentials && requested === 'auto') return { flow: 'credentials' };
  if (sessionEnvironment.isCi) return { flow: 'none', reason: 'ci' };
  if (requested === 'device') {
    return hasDeviceEndpoint
      ? { flow: 'device_code', because: 'asked for' }
      : { flow: 'none', reason: 'no_device_endpoint' };
  }
  if (requested === 'pkce') {
    const opensBrowser =
      question.isBrowserNamed ||
      (sessionEnvironment.hasDisplay && sessionEnvironment.remoteBecause === '');
    return {
      flow: 'pkce',
      opensBrowser: opensBrowser && !question.isBrowserRefused,
      because: 'asked for',
    };
  }
  if (question.isBrowserNamed && !question.isBrowserRefused)
    return { flow: 'pkce', opensBrowser: true, because: 'a browser was named' };
  if (!sessionEnvironment.isInteractive) return { flow: 'none', reason: 'no_terminal' };
  const because = withoutBrowser(question);
  if (because === '')
    return { flow: 'pkce', opensBrowser: true, because: 'this machine has a browser' };
  return hasDeviceEndpoint
    ? { flow: 'device_code', because }
    : { flow: 'pkce', opensBrowser: false, because };
}

/** Why no browser can be opened here; empty when one can. */
function withoutBrowser({ sessionEnvironment, isBrowserRefused }: FlowQuestion): string {
  if (sessionEnvironment.remoteBecause !== '') return sessionEnvironment.remoteBecause;
  if (!sessionEnvironment.hasDisplay) return 'there is no display';
  return isBrowserRefused ? '--no-browser was given' : '';
}
