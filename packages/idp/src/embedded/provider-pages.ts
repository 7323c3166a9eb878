/**
 * Answers of the provider that are pages, and those that must never be one.
 *
 * @module
 */

import type { Client, RouteContext } from 'oidc-provider/lib/provider.js';
import {
  renderDeviceConnectedPage,
  renderUserCodeConfirmPage,
  renderUserCodePage,
} from './pages/device.ts';
import { renderErrorPage, renderExpiredSignInPage } from './pages/error.ts';
import type { ProtectedForm } from './pages/page.ts';

/** Endpoints that programs call: real clients parse JSON, whatever their `Accept` says. */
const PROGRAM_ROUTES: ReadonlySet<string> = new Set([
  'device_authorization',
  'discovery',
  'introspection',
  'jwks',
  'pushed_authorization_request',
  'revocation',
  'token',
  'userinfo',
]);

/** RFC 8628 section 3.2: seconds between two polls. Real clients fail without it. */
const POLL_INTERVAL_SECONDS = 5;

interface OAuthError {
  readonly error: string;
  readonly error_description?: string;
}

/** Answers a refused request that cannot be redirected. The status is set already. */
export async function renderError(context: RouteContext, error: OAuthError): Promise<void> {
  if (PROGRAM_ROUTES.has(context.oidc.route)) {
    context.body = error;
    return;
  }
  context.type = 'html';
  context.body = renderErrorPage({
    title: 'This request cannot be answered',
    advice:
      'Go back to the application and start again. If it happens again, its configuration does not fit this identity provider.',
    error: error.error,
    description: error.error_description,
  });
}

/** Device flow settings of the provider (RFC 8628). */
export const DEVICE_FLOW_FEATURE: Readonly<Record<string, unknown>> = {
  enabled: true,
  charset: 'base-20',
  mask: '****-****',
  deviceInfo: () => ({}),
  async userCodeInputSource(
    context: RouteContext,
    _form: string,
    _error: OAuthError | undefined,
    cause: Error | undefined,
  ) {
    context.type = 'html';
    const { session } = context.oidc;
    if (cause !== undefined && session.exp === undefined) {
      // A browser without a session: a form would be bound to one that is never saved, and the
      // library fails when it tries to.
      session.touched = false;
      context.body = renderExpiredSignInPage();
      return;
    }
    context.body = renderUserCodePage(formOf(context), alertFor(cause));
  },
  async userCodeConfirmSource(
    context: RouteContext,
    _form: string,
    client: Client,
    _deviceInfo: unknown,
    userCode: string,
  ) {
    context.type = 'html';
    context.body = renderUserCodeConfirmPage(formOf(context), nameOf(client), userCode);
  },
  async successSource(context: RouteContext) {
    context.type = 'html';
    context.body = renderDeviceConnectedPage(nameOf(context.oidc.client));
  },
};

/** Adds the polling interval to the answer of the device authorization endpoint. */
export async function addPollInterval(
  context: { readonly oidc?: { readonly route: string }; body: unknown },
  next: () => Promise<void>,
): Promise<void> {
  await next();
  const { body } = context;
  if (context.oidc?.route !== 'device_authorization') return;
  if (typeof body === 'object' && body !== null && 'device_code' in body)
    context.body = { ...body, interval: POLL_INTERVAL_SECONDS };
}

function formOf({ oidc }: RouteContext): ProtectedForm {
  return { action: oidc.urlFor('code_verification'), xsrf: oidc.session.state?.secret ?? '' };
}

function nameOf(client: Client | undefined): string {
  return client?.clientName ?? 'An application';
}

/** Names of the library's errors on the code form; it says no more about them. */
function alertFor(cause: Error | undefined): string | undefined {
  switch (cause?.name) {
    case undefined:
      return undefined;
    case 'NoCodeError':
    case 'NotFoundError':
      return 'That code is not known. Check it and try again.';
    case 'ExpiredError':
      return 'That code has expired. Start again on your device.';
    case 'AlreadyUsedError':
      return 'That code was used already. Start again on your device.';
    case 'AbortedError':
      return 'The device was refused. Nothing was connected.';
    default:
      return 'The request could not be finished. Start again on your device.';
  }
}
