/**
 * The bearer header on its way to the admin service, and cookies on their way to the browser.
 *
 * @module
 */

import type { PlatformMetadata } from '@sallyport/client';
import type { Config } from '@sallyport/config';
import { PATHS } from '@sallyport/protocol';
import { type Finding, fail, warn } from '../finding/finding.ts';
import { broken, found, type Probe } from '../graph/probe.ts';
import { type Answer, type Ask, describeAnswer, reasonOf } from '../network/exchange.ts';
import type { ClientSubject } from '../subject.ts';
import type { SignInStart } from './gate.ts';

/** Looks like a token, and is none. */
const NO_TOKEN = 'Bearer doctor-probe';

/**
 * Makes `headers.name` for each client and `headers.read`: a made-up token in the header that the platform names.
 *
 * Whether a header was read shows in the reason: `no_credential` says that no bearer arrived.
 */
export function createHeaderProbes(
  {
    metadata,
    ready,
    routes,
  }: {
    readonly metadata: Probe<PlatformMetadata>;
    readonly ready: Probe<URL>;
    readonly routes: Probe<Answer>;
  },
  clients: readonly ClientSubject[],
  config: Config | undefined,
  ask: Ask,
): { readonly all: readonly Probe[]; readonly read: Probe<string> } {
  const names: Probe = {
    id: 'headers.name',
    group: 'headers',
    title: "the clients' header beside the platform's",
    needs: [metadata],
    run: (answers) => found(undefined, compareNames(answers.get(metadata), clients)),
  };
  const read: Probe<string> = {
    id: 'headers.read',
    group: 'headers',
    title: 'the bearer header on its way',
    needs: [metadata, ready, routes],
    async run(answers) {
      const url = answers.get(ready).origin + PATHS.me;
      const named =
        config?.auth.httpAuthorizationHeader ?? answers.get(metadata).authorizationHeader;
      const answer = await show(url, named, ask);
      if (answer === undefined || isRead(answer, answers.get(routes))) return found(named);
      const usual = await show(url, 'authorization', ask);
      const isUsualRead = usual !== undefined && isRead(usual, answers.get(routes));
      return broken(
        fail(
          'header_dropped',
          `the platform does not see the header ${named}, which its metadata names to clients: something on the way removes it`,
          `Let every proxy pass ${named} on, to /me as well (nginx: proxy_set_header ${named} $http_${named.replaceAll('-', '_')};).`,
          [
            describeAnswer(answer),
            `reason ${reasonOf(answer)}; the header authorization is ${isUsualRead ? 'read' : 'not read either'}`,
          ],
        ),
      );
    },
  };
  return { all: [...(clients.length > 0 ? [names] : []), read], read };
}

async function show(url: string, header: string, ask: Ask): Promise<Answer | undefined> {
  const asked = await ask(url, { headers: { [header]: NO_TOKEN, accept: 'application/json' } });
  return asked.ok ? asked.value : undefined;
}

/** A bearer that was read is refused for another reason than a missing one. */
function isRead(answer: Answer, without: Answer): boolean {
  const reason = reasonOf(answer);
  if (reason !== '') return reason !== 'no_credential';
  return answer.status !== without.status || /invalid_token/.test(challengeOf(answer));
}

function challengeOf({ headers }: Answer): string {
  return headers.get('www-authenticate') ?? '';
}

function compareNames(
  { authorizationHeader }: PlatformMetadata,
  clients: readonly ClientSubject[],
): readonly Finding[] {
  return clients.flatMap(({ settings, file, block }) => {
    const sent = settings?.authorizationHeader ?? '';
    if (sent === '' || sent === authorizationHeader) return [];
    return [
      fail(
        'header_name_differs',
        `${block} of ${file} sends its token in ${sent}, and the platform reads ${authorizationHeader}`,
        `Set the header of ${block} to ${authorizationHeader}.`,
      ),
    ];
  });
}

/** Longest cookie that browsers keep, name and attributes included (RFC 6265 section 6.1). */
const COOKIE_MAX_BYTES = 4_096;
/** A usual limit of proxies for all request headers together. */
const COOKIES_MAX_BYTES = 8_192;

/** Makes `cookies.attributes`: the cookies that `/login` sets, as a browser takes them. */
export function createCookieProbe(login: Probe<SignInStart>): Probe {
  return {
    id: 'cookies.attributes',
    group: 'cookies',
    title: 'cookies of a sign-in',
    needs: [login],
    run(answers) {
      const { answer, authorization } = answers.get(login);
      return found(undefined, [
        ...judgeCookies(answer),
        ...compareOrigin(new URL(answer.url), authorization),
      ]);
    },
  };
}

function judgeCookies({ url, headers }: Answer): readonly Finding[] {
  const { protocol, hostname } = new URL(url);
  const cookies = headers.getSetCookie().slice(0, 50);
  const findings: Finding[] = [];
  if (cookies.length === 0)
    findings.push(
      fail(
        'cookie_missing',
        '/login sets no cookie, so that no sign-in can be finished: something on the way removes it',
        'Let every proxy pass Set-Cookie on (nginx: auth_request_set and add_header for /me).',
      ),
    );
  for (const cookie of cookies) {
    const [name = ''] = cookie.split('=');
    const has = (pattern: RegExp): boolean => pattern.test(cookie);
    const domain = /;\s*domain=\.?([^;]+)/i.exec(cookie)?.[1]?.toLowerCase();
    if (has(/;\s*samesite=strict/i))
      findings.push(
        fail(
          'cookie_same_site',
          `the cookie ${name} is SameSite=Strict: the browser does not send it when it comes back from the identity provider`,
          'Set auth.userAuth.cookieSetting.sameSitePolicy to LaxMode; look at what a proxy adds.',
        ),
      );
    if (protocol === 'https:' && !has(/;\s*secure/i))
      findings.push(
        warn(
          'cookie_not_secure',
          `the cookie ${name} is not Secure on an https address`,
          'Set publicUrl to the https address of the platform.',
        ),
      );
    if (protocol === 'http:' && has(/;\s*secure/i) && hostname !== 'localhost')
      findings.push(
        fail(
          'cookie_not_secure',
          `the cookie ${name} is Secure, and the address is plain http: the browser drops it`,
          'Open the platform by https; publicUrl says https.',
        ),
      );
    if (domain !== undefined && hostname !== domain && !hostname.endsWith(`.${domain}`))
      findings.push(
        fail(
          'cookie_domain',
          `the cookie ${name} is for ${domain}, and the address is ${hostname}: the browser drops it`,
          'Leave auth.userAuth.cookieSetting.domain empty, or set a parent domain of the address.',
        ),
      );
    if (Buffer.byteLength(cookie) > COOKIE_MAX_BYTES) findings.push(toTooLarge(name));
  }
  const bytes = cookies.reduce((sum, cookie) => sum + Buffer.byteLength(cookie), 0);
  if (bytes > COOKIES_MAX_BYTES && findings.length === 0) findings.push(toTooLarge('of /login'));
  return findings;
}

function toTooLarge(name: string): Finding {
  return fail(
    'cookie_too_large',
    `the cookie ${name} is larger than browsers and proxies take`,
    'Look at what a proxy adds to it; raise proxy_buffer_size and large_client_header_buffers to 16k.',
  );
}

/** The address that the admin service believes to have. */
function compareOrigin(asked: URL, authorization: URL): readonly Finding[] {
  const redirectUri = URL.parse(authorization.searchParams.get('redirect_uri') ?? '');
  if (redirectUri === null || redirectUri.origin === asked.origin) return [];
  return [
    fail(
      'public_url_differs',
      `the platform sends people back to ${redirectUri.origin}, and was asked as ${asked.origin}: the cookie of the sign-in stays behind, and it loops`,
      `Set publicUrl to ${asked.origin}, or open ${redirectUri.origin} (with or without www, http or https).`,
    ),
  ];
}
