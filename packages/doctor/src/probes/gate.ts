/**
 * The gate: the routes of sign-in, and whether protected ones are closed.
 *
 * @module
 */

import { PATHS } from '@sallyport/protocol';
import { type Finding, fail } from '../finding/finding.ts';
import { broken, found, type Outcome, type Probe, skipped } from '../graph/probe.ts';
import {
  type Answer,
  type Ask,
  describeAnswer,
  describeNoAnswer,
  fixNoAnswer,
  isPage,
  locationOf,
  type NoAnswer,
} from '../network/exchange.ts';

/** What `/login` answered a browser. */
export interface SignInStart {
  readonly answer: Answer;
  /** The authorization request. */
  readonly authorization: URL;
}

/** The probes, and those that others need. */
export interface GateProbes {
  readonly all: readonly Probe[];
  readonly http: Probe<Answer>;
  readonly routes: Probe<Answer>;
  readonly login: Probe<SignInStart>;
  /** Protected paths that are refused without a credential. */
  readonly closed: Probe<readonly string[]>;
}

/** As a browser asks for a page. */
export const BROWSER: Readonly<Record<string, string>> = {
  accept: 'text/html',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-fetch-site': 'none',
};
const PROGRAM: Readonly<Record<string, string>> = { accept: 'application/json' };

/** A protected path of each kind: what programs call, and what people open. */
const PROTECTED_PATHS = ['/api/v1/projects', '/console'];
const USE_AUTH_FIX =
  'Set server.security.useAuth to true at the admin service, and route /me, /login, /callback and /logout to it without an auth subrequest.';

/** Makes `platform.http`, `gate.routes`, `gate.login` and `gate.protected`. */
export function createGateProbes(ready: Probe<URL>, ask: Ask): GateProbes {
  const http: Probe<Answer> = {
    id: 'platform.http',
    group: 'http',
    title: "an answer of the platform's",
    needs: [ready],
    async run(answers) {
      const url = answers.get(ready);
      const asked = await ask(url.origin + PATHS.me, { headers: PROGRAM });
      if (asked.ok) return found(asked.value);
      return broken(
        fail(
          'no_http_answer',
          `the platform ${url.origin} ${describeNoAnswer(asked.error)}`,
          fixNoAnswer(asked.error, 'Look at the log of the ingress and of what is behind it.'),
          [`${url.origin}${PATHS.me}: ${asked.error.code}`],
        ),
      );
    },
  };
  const routes: Probe<Answer> = {
    id: 'gate.routes',
    group: 'gate',
    title: 'the routes of sign-in',
    needs: [http],
    run: (answers) => judgeMe(answers.get(http)),
  };
  const login: Probe<SignInStart> = {
    id: 'gate.login',
    group: 'gate',
    title: 'the start of a sign-in',
    needs: [ready, routes],
    async run(answers) {
      const { origin } = answers.get(ready);
      const asked = await ask(`${origin}${PATHS.login}?redirect_url=%2F`, { headers: BROWSER });
      if (!asked.ok) return broken(toNoAnswer(`${origin}${PATHS.login}`, asked.error));
      return judgeLogin(asked.value);
    },
  };
  const closed: Probe<readonly string[]> = {
    id: 'gate.protected',
    group: 'gate',
    title: 'protected routes without a credential',
    needs: [ready, routes],
    async run(answers) {
      const { origin } = answers.get(ready);
      const findings: Finding[] = [];
      const refused: string[] = [];
      for (const path of PROTECTED_PATHS) {
        const asked = await ask(origin + path, { headers: PROGRAM });
        if (!asked.ok) continue;
        if (asked.value.status === 200) findings.push(toOpenFinding(asked.value, path));
        if (asked.value.status === 401) refused.push(path);
      }
      return found(refused, findings);
    },
  };
  return { all: [http, routes, login, closed], http, routes, login, closed };
}

function judgeMe(answer: Answer): Outcome<Answer> {
  const { status } = answer;
  const evidence = [describeAnswer(answer)];
  if (status === 401) return found(answer);
  const to = locationOf(answer);
  if (to !== undefined)
    return broken(
      fail(
        'me_redirects',
        '/me answers with a redirect, where the ingress needs 200 or 401',
        'Take the auth subrequest (auth-url, auth-signin) off the route of /me: it is the check itself.',
        evidence,
      ),
    );
  if (status === 404 || status === 405 || (status === 200 && isPage(answer)))
    return broken(
      fail(
        'routes_not_registered',
        'the routes of sign-in are not registered: /me answers as an unknown path; a browser is redirected in a loop',
        USE_AUTH_FIX,
        evidence,
      ),
    );
  if (status === 200)
    return broken(
      fail(
        'me_admits_all',
        '/me answers 200 to a request without a credential, so every protected route is open',
        'Compare what answers at /me: it has to be the admin service, and nothing in front may add a credential.',
        evidence,
      ),
    );
  return broken(
    fail(
      'platform_fails',
      `/me answers ${status}, where 401 is due`,
      status >= 500
        ? 'Look at the log of the admin service and of the ingress; 502 and 504 mean that the ingress does not reach it.'
        : 'Look at what stands in front of the admin service: a firewall or another sign-in.',
      evidence,
    ),
  );
}

function judgeLogin(answer: Answer): Outcome<SignInStart> {
  const authorization = locationOf(answer);
  const evidence = [describeAnswer(answer)];
  if (authorization === undefined) {
    if (answer.status === 429) return skipped('too many sign-ins were started from here');
    const isUndecided = answer.status === 503;
    return broken(
      isUndecided
        ? fail(
            'sign_in_unavailable',
            'the platform cannot start a sign-in: it does not reach its identity provider, or does not believe it',
            'Look for idp_unreachable or idp_misbehaving in the log of the admin service, and run the doctor there.',
            evidence,
          )
        : fail(
            'login_not_served',
            `/login answers ${answer.status}, where a redirect to the identity provider is due`,
            USE_AUTH_FIX,
            evidence,
          ),
    );
  }
  const { origin } = new URL(answer.url);
  if (authorization.origin === origin && !authorization.searchParams.has('client_id'))
    return broken(
      fail(
        'login_loop',
        `/login redirects to ${authorization.pathname} of the platform instead of the identity provider: a browser loops`,
        'Take the auth subrequest off the route of /login, and compare publicUrl with the address in the browser.',
        evidence,
      ),
    );
  return found({ answer, authorization });
}

function toOpenFinding(answer: Answer, path: string): Finding {
  return fail(
    'protected_route_open',
    `the protected path ${path} is open: it answers 200 without a credential`,
    'Put the auth subrequest on its route at the ingress (auth-url to /me); `sallyport recipe nginx` writes all of them.',
    [describeAnswer(answer)],
  );
}

function toNoAnswer(url: string, noAnswer: NoAnswer): Finding {
  return fail(
    'no_http_answer',
    `${url} ${describeNoAnswer(noAnswer)}`,
    fixNoAnswer(noAnswer, 'Look at the log of the ingress and of what is behind it.'),
    [`${url}: ${noAnswer.code}`],
  );
}
