/**
 * Log events of the embedded IdP. Never hold a token, code, password or secret.
 *
 * @module
 */

import { OIDCProviderError } from 'oidc-provider/lib/helpers/errors.js';
import type { Client, Provider, RouteContext } from 'oidc-provider/lib/provider.js';
import type { LogIdpEvent } from './log-event.ts';

/** Events of the library that mean "a request was refused", by the name they are logged under. */
const REFUSALS = {
  'authorization.error': 'idp.authorization.refused',
  'device_authorization.error': 'idp.device.refused',
  'code_verification.error': 'idp.device.refused',
  'device_resume.error': 'idp.device.refused',
  'grant.error': 'idp.token.refused',
  'userinfo.error': 'idp.userinfo.refused',
  'revocation.error': 'idp.revocation.refused',
  'introspection.error': 'idp.introspection.refused',
  'pushed_authorization_request.error': 'idp.authorization.refused',
  'end_session.error': 'idp.sign_out.refused',
  'end_session_confirm.error': 'idp.sign_out.refused',
} as const;

/** The library's descriptions are fixed sentences; the bound is for the day one is not. */
const DETAIL_MAX = 200;

/**
 * Logs what the provider reports.
 *
 * An unexpected error is logged by its class only: its message may hold parts of a request.
 */
export function logProviderEvents(provider: Provider, log: LogIdpEvent): void {
  for (const [event, name] of Object.entries(REFUSALS)) {
    provider.on(event, (context: RouteContext, error: Error) => {
      log(name, { ...clientOf(context), ...describe(error) });
    });
  }
  provider.on('grant.success', (context: RouteContext) => {
    log('idp.token.issued', {
      ...clientOf(context),
      grant_type: context.oidc.params?.['grant_type'] ?? '',
    });
  });
  provider.on('grant.revoked', (context: RouteContext) => {
    log('idp.grant.revoked', clientOf(context));
  });
  provider.on('end_session.success', (context: RouteContext) => {
    log('idp.sign_out.succeeded', clientOf(context));
  });
  provider.on('backchannel.success', (_context: RouteContext, client: Client) => {
    log('idp.backchannel_logout.delivered', { client_id: client.clientId });
  });
  provider.on('backchannel.error', (_context: RouteContext, error: Error, client: Client) => {
    log('idp.backchannel_logout.failed', { client_id: client.clientId, error: error.name });
  });
  provider.on('server_error', (context: RouteContext, error: Error) => {
    log('idp.failed', { route: context.oidc.route, error: error.name });
  });
  provider.on('error', (error: Error) => {
    log('idp.failed', { error: error.name });
  });
}

function clientOf({ oidc }: RouteContext): Readonly<Record<string, string>> {
  return oidc.client === undefined ? {} : { client_id: oidc.client.clientId };
}

function describe(error: Error): Readonly<Record<string, string>> {
  if (!(error instanceof OIDCProviderError)) return { error: error.name };
  const detail = error.error_detail ?? error.error_description ?? '';
  return { error: error.message, detail: detail.slice(0, DETAIL_MAX) };
}
