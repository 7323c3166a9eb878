/**
 * Mistakes in the address of the identity provider: each needs a service of its own, which asks once it starts.
 *
 * @module
 */

import { answerWith, startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { expect } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { startHostedService, WEB_CLIENT_ID } from '../wire/platform.ts';
import { logOf, PATIENCE } from '../wire/workers.ts';
import {
  type Mistake,
  namesOf,
  noticesOf,
  type Said,
  saidOf,
  writeLine,
  writePage,
} from './mistake.ts';

/** What the IdP's own metadata, or whatever stands at its address, is like. */
interface Wrong {
  readonly metadata?: (issuer: string) => Readonly<Record<string, unknown>>;
  readonly status?: number;
  /** What is configured; by default the IdP's own address. */
  readonly configured?: (issuer: string) => string;
  readonly isDown?: boolean;
  /** What `/readyz` waits for; by default for sign-in and for bearers. */
  readonly waitingFor?: readonly string[];
}

/** What the service says as it starts, and to a person who wants to sign in. Readiness is red meanwhile. */
async function start({
  metadata,
  status,
  configured,
  isDown = false,
  waitingFor = ['identity_provider', 'issuer_keys'],
}: Wrong): Promise<Said> {
  const idp = await startFakeIdp(WEB_CLIENT_ID);
  if (metadata !== undefined) idp.metadata = metadata(idp.issuer);
  if (status !== undefined) idp.answers.set('*', answerWith(status, 'nothing here'));
  if (isDown) await idp.goDown();
  const environment = { OIDC_BASE_URL: configured?.(idp.issuer) ?? idp.issuer };
  const service = await startHostedService(environment, [], idp);
  try {
    const notices = () => noticesOf(logOf(service.running));
    await expect.poll(() => notices().length, PATIENCE).toBeGreaterThan(0);
    const page = await new Browser().step(`${service.url}/login?redirect_url=%2F`);
    const ready = await exchange(`${service.url}/readyz`);
    expect([ready.status, JSON.parse(ready.body)]).toEqual([
      503,
      { status: 'not_ready', waiting_for: waitingFor },
    ]);
    const names = namesOf(service);
    return { line: writeLine(notices()[0] ?? {}, names), page: writePage(page, names) };
  } finally {
    await service.stop();
  }
}

/** The parameters of a sign-in are pushed to an IdP that does not know the address they are to come back to. */
async function pushUnregistered(): Promise<Said> {
  const idp = await startFakeIdp(WEB_CLIENT_ID);
  const body = JSON.stringify({ error: 'invalid_request', error_description: 'redirect_uri' });
  idp.pushAnswer = { status: 400, body };
  const file = ['auth:', '  userAuth:', '    openId:', '      pushedAuthorization: always'];
  const service = await startHostedService({}, [], idp, file);
  try {
    return await saidOf(service, () => new Browser().step(`${service.url}/login?redirect_url=%2F`));
  } finally {
    await service.stop();
  }
}

/** Rows about the address of the issuer, and the addresses that it has to know. */
export const ISSUER_MISTAKES: readonly Mistake[] = [
  {
    name: 'The issuer is configured with a slash at its end, and has none',
    make: () => start({ configured: (issuer) => `${issuer}/` }),
  },
  {
    name: 'The issuer is configured without the slash at its end',
    make: () => start({ metadata: (issuer) => ({ issuer: `${issuer}/` }) }),
  },
  {
    name: 'The issuer is that of another realm or tenant',
    make: () => start({ metadata: (issuer) => ({ issuer: `${issuer}/realms/other` }) }),
  },
  {
    name: 'Nothing is at the address of the issuer',
    make: () => start({ configured: (issuer) => `${issuer}/realms/mispelt`, status: 404 }),
  },
  {
    name: 'The identity provider does not run, or a firewall is in between',
    make: () => start({ isDown: true }),
  },
  {
    name: 'The identity provider answers with errors',
    make: () => start({ status: 503 }),
  },
  {
    name: 'The redirect address is not registered, and the parameters are pushed',
    make: pushUnregistered,
  },
  {
    name: 'The metadata name no token endpoint',
    make: () =>
      start({
        metadata: () => ({ token_endpoint: undefined }),
        waitingFor: ['identity_provider'],
      }),
  },
];
