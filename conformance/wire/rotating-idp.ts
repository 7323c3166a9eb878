/**
 * A certified provider that rotates refresh tokens and ends the family of one that is used twice, with
 * the test's hand on what arrives at it and what it answers.
 *
 * @module
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listenOn, listenOnFreePort } from '@sallyport/testing/wire/listen';
import { freePort } from '@sallyport/testing/wire/ports';
import type { Browser } from './browser.ts';
import { type Answer, CLIENT_IDS, startEmbeddedIdp, type WebRegistration } from './embedded-idp.ts';
import type { Received } from './exchange.ts';
import type { MovedClock } from './moved-clock.ts';
import {
  createRefreshControl,
  type RefreshControl,
  type RefreshTreatment,
} from './refresh-control.ts';

/** Who can sign in. */
export type Login = 'ada' | 'grace';

/** Settings of {@link startRotatingIdp}. */
export interface RotatingIdpOptions {
  /** Seconds for which a refresh token that was used may be used again; 0 when absent. */
  readonly leewaySeconds?: number;
  /** Lifetime of access tokens; an hour when absent. */
  readonly accessTokenTtlSeconds?: number;
  /** Of the deployment whose web application is registered; `http://localhost:<a free port>` when absent. */
  readonly publicUrl?: string;
  /** Moves the IdP too: tokens are issued and expire at the clock's time. */
  readonly clock?: MovedClock;
  readonly registration?: WebRegistration;
}

/** One request that arrived. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly form: URLSearchParams;
  /** When it arrived: milliseconds of `performance.now()`. */
  readonly at: number;
  /** Whose refresh token was shown, or who got one. */
  login: string | undefined;
  /** What the IdP itself answered; `undefined` as long as it has not. */
  idpStatus: number | undefined;
}

/** The running IdP. */
export interface RotatingIdp {
  readonly issuer: string;
  readonly publicUrl: string;
  /** Variables with which `sallyport serve` is this IdP's relying party. */
  readonly environment: Readonly<Record<string, string>>;
  /** Every request so far, oldest first. */
  readonly requests: readonly SeenRequest[];
  /** How refreshes are treated. */
  readonly refreshes: RefreshControl;
  /** Refreshes that arrived, however they were treated; oldest first. */
  seenRefreshes(): readonly SeenRequest[];
  /** Resolves when the next refresh arrives, before anything is done to it. */
  nextRefresh(): Promise<SeenRequest>;
  /** Requests to a path, `/idp/token` for instance; of one grant type when given. */
  count(path: string, grantType?: string): number;
  /**
   * Opens an address that leads to the IdP, signs in there, and goes on to where that ends.
   *
   * @param address - `<publicUrl>/login` for instance.
   */
  signIn(browser: Browser, address: string, login?: Login): Promise<Received>;
  password(login: Login): string;
  /** Ends the grants of a person at the IdP: their next refresh is `invalid_grant`. */
  revoke(login: Login): Promise<void>;
  /** Ends every connection; new ones are refused. */
  goDown(): Promise<void>;
  /** Listens again, on the same port, with everything it knew. */
  comeUp(): Promise<void>;
  close(): Promise<void>;
}

const TOKEN_PATH = '/idp/token';
const HOUR_SECONDS = 3_600;
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
]);

/** Starts it on a free port. */
export async function startRotatingIdp(options: RotatingIdpOptions = {}): Promise<RotatingIdp> {
  const { leewaySeconds = 0, accessTokenTtlSeconds = HOUR_SECONDS, clock } = options;
  const { publicUrl = `http://localhost:${await freePort()}` } = options;
  const requests: SeenRequest[] = [];
  const waiting: ((seen: SeenRequest) => void)[] = [];
  const loginByRefreshToken = new Map<string, string>();
  const { control, treat } = createRefreshControl();
  const server = createServer((req, res) => {
    // A client that went away is no failure of the test's.
    handle(req, res).catch(() => res.destroy());
  });
  const port = await listenOnFreePort(server);
  const issuer = `http://127.0.0.1:${port}`;
  const { registration } = options;
  const settings = { issuer, publicUrl, leewaySeconds, accessTokenTtlSeconds, clock, registration };
  const idp = await startEmbeddedIdp(settings).catch(async (error: unknown) => {
    await unlisten(server);
    throw error;
  });

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await buffer(req);
    const form = new URLSearchParams(body.toString());
    const seen: SeenRequest = {
      method: req.method ?? '',
      path: new URL(req.url ?? '/', issuer).pathname,
      form,
      at: performance.now(),
      login: loginByRefreshToken.get(form.get('refresh_token') ?? ''),
      idpStatus: undefined,
    };
    requests.push(seen);
    if (!isRefresh(seen)) return send(res, await pass(seen, req, body));
    const treatment = treat();
    for (const resolve of waiting.splice(0)) resolve(seen);
    await refresh(treatment, seen, req, res, body);
  }

  async function refresh(
    { before, after }: RefreshTreatment,
    seen: SeenRequest,
    req: IncomingMessage,
    res: ServerResponse,
    body: Buffer,
  ): Promise<void> {
    const decided = await before();
    if (decided === 'reset' || (res.destroyed && decided !== 'carry out')) return reset(req);
    if (decided !== 'pass' && decided !== 'carry out') {
      const { status, headers, body: content } = decided;
      const all = { 'content-type': 'application/json', ...headers };
      return send(res, { status, headers: all, body: Buffer.from(content) });
    }
    const answer = await pass(seen, req, body);
    const delivery = await after();
    if (delivery === 'drop') reset(req);
    else if (delivery === 'twice') sendTwice(req, answer);
    else send(res, answer);
  }

  /** Lets the IdP answer, and notes whom it gave which refresh token. */
  async function pass(seen: SeenRequest, req: IncomingMessage, body: Buffer): Promise<Answer> {
    const answer = await idp.ask(req.method ?? '', req.url ?? '', req.headers, body);
    seen.idpStatus = answer.status;
    if (seen.path !== TOKEN_PATH || answer.status !== 200) return answer;
    const tokens = JSON.parse(answer.body.toString()) as Readonly<Record<string, string>>;
    seen.login ??= subjectOf(tokens['id_token'] ?? '');
    const { refresh_token: refreshToken } = tokens;
    if (refreshToken !== undefined && seen.login !== undefined)
      loginByRefreshToken.set(refreshToken, seen.login);
    return answer;
  }

  return {
    issuer,
    publicUrl,
    environment: {
      PUBLIC_URL: publicUrl,
      OIDC_BASE_URL: issuer,
      OIDC_CLIENT_ID: CLIENT_IDS.web,
      CLI_CLIENT_ID: CLIENT_IDS.native,
      INTERNAL_CLIENT_ID: CLIENT_IDS.service,
      AUTH_CLIENT_ID: CLIENT_IDS.service,
      AUTH_TOKEN_URL: issuer + TOKEN_PATH,
      OIDC_CLIENT_SECRET_FILE: idp.webClientSecretFile,
    },
    requests,
    refreshes: control,
    seenRefreshes: () => requests.filter(isRefresh),
    nextRefresh: () => new Promise((resolve) => waiting.push(resolve)),
    count: (path, grantType) =>
      requests.filter(
        (seen) =>
          seen.path === path &&
          (grantType === undefined || seen.form.get('grant_type') === grantType),
      ).length,
    async signIn(browser, address, login = 'ada') {
      const page = await browser.visit(address);
      // A browser that the IdP knows already is sent on without a page.
      if (!page.url.startsWith(`${issuer}/`)) return page;
      return browser.submit(page, { login, password: idp.password(login) });
    },
    password: (login) => idp.password(login),
    async revoke(login) {
      // A used token still names its grant, so that one whose successor was not received counts too.
      for (const [token, owner] of loginByRefreshToken)
        if (owner === login) await idp.revoke(token);
    },
    goDown: () => unlisten(server),
    comeUp: () => listenOn(server, port),
    async close() {
      control.pass();
      await unlisten(server);
      await idp.close();
    },
  };
}

function isRefresh({ path, form }: SeenRequest): boolean {
  return path === TOKEN_PATH && form.get('grant_type') === 'refresh_token';
}

/** As from a server that died: nothing that could be taken for an answer. */
function reset({ socket }: IncomingMessage): void {
  socket.resetAndDestroy();
}

function send(res: ServerResponse, { status, headers, body }: Answer): void {
  res.writeHead(status, headers);
  res.end(body);
}

/** One request, one answer: the second answer is discarded. */
function sendTwice({ socket }: IncomingMessage, { status, headers, body }: Answer): void {
  const kept = Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()));
  const lines = kept.flatMap(([name, value]) =>
    [value ?? ''].flat().map((one) => `${name}: ${one}`),
  );
  const head = [`HTTP/1.1 ${status} `, ...lines, `content-length: ${body.length}`, '', ''];
  const answer = Buffer.concat([Buffer.from(head.join('\r\n'), 'latin1'), body]);
  socket.end(Buffer.concat([answer, answer]));
}

/** The subject of an id_token that came from the IdP itself: there is nothing to verify. */
function subjectOf(idToken: string): string | undefined {
  const [, payload = ''] = idToken.split('.');
  if (payload === '') return undefined;
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub?: string };
  return claims.sub;
}

async function unlisten(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
