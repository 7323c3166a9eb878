/**
 * Grants: each application with its own secret, at the token endpoint.
 *
 * @module
 */

import type { Config } from '@sallyport/config';
import type { IssuerDocument } from '@sallyport/server/issuer';
import { fail } from '../finding/finding.ts';
import { broken, found, type Outcome, type Probe, skipped } from '../graph/probe.ts';
import { type Ask, describeNoAnswer, fixNoAnswer, type NoAnswer } from '../network/exchange.ts';
import { explainRefusal } from './refusal.ts';
import type { HeldSecret } from './secrets.ts';
import {
  type Form,
  madeUpCode,
  makeUp,
  postGrant,
  show,
  type TokenAnswer,
} from './token-request.ts';

/** What both kinds of application need. */
export interface GrantGround {
  readonly secret: Probe<HeldSecret>;
  /** Has a value once the token endpoint can be spoken to: its address. */
  readonly endpoint: Probe<string>;
  /** Secrets of all applications, for those that were mixed up. */
  readonly others: readonly Probe<HeldSecret>[];
  readonly ask: Ask;
}

/** A token that a service obtained. MUST NOT get into a finding. */
export interface ObtainedToken {
  readonly accessToken: string;
  readonly clientId: string;
  readonly name: string;
  /** Epoch milliseconds here, when it was asked for. */
  readonly askedAt: number;
  /** Words of the server, or a stand-in where they repeat the secret of this application. */
  readonly showWords: (words: string) => string;
}

/** Makes the probe of a service app: `client_credentials`, as its configuration has it. */
export function createServiceGrantProbe(
  id: string,
  title: string,
  form: Form,
  ground: GrantGround,
  now: () => number,
): Probe<ObtainedToken> {
  return {
    id: `grants.${id}`,
    group: 'grants',
    title,
    needs: [ground.secret, ground.endpoint],
    after: ground.others,
    async run(answers) {
      const secret = answers.get(ground.secret);
      const url = answers.get(ground.endpoint);
      const { clientId, name } = secret.use;
      const askedAt = now();
      const whole = { grant_type: 'client_credentials', ...form };
      const asked = await postGrant(ground.ask, url, { clientId, secret: secret.text }, whole);
      if (!asked.ok) return toNoAnswer(url, asked.error);
      const { value: answer } = asked;
      const showWords = (words: string): string => show(words, secret.text);
      if (answer.accessToken !== '')
        return found({ accessToken: answer.accessToken, clientId, name, askedAt, showWords });
      if (answer.status === 200 || answer.error === '') return noOAuth(url, answer);
      const others = ground.others.flatMap((probe) => answers.find(probe) ?? []);
      const refused = { url, form: whole, secret, answer, grant: 'client_credentials' };
      return broken(await explainRefusal(refused, others, ground.ask));
    },
  };
}

const UNPROVEN =
  'the identity provider answers a made-up secret in the same way: it looks at the code first, or takes any secret';

/**
 * Makes the probe of the web app: its secret, with a code that is made up.
 *
 * `invalid_grant` proves the secret only where a made-up one is answered otherwise. Else the secret counts as untried.
 */
export function createWebGrantProbe(config: Config, ground: GrantGround): Probe {
  return {
    id: 'grants.web',
    group: 'grants',
    title: 'the web app at the token endpoint',
    needs: [ground.secret, ground.endpoint],
    after: ground.others,
    async run(answers) {
      const secret = answers.get(ground.secret);
      const url = answers.get(ground.endpoint);
      const form = madeUpCode(`${config.publicUrl}/callback`);
      const { clientId } = secret.use;
      const asked = await postGrant(ground.ask, url, { clientId, secret: secret.text }, form);
      if (!asked.ok) return toNoAnswer(url, asked.error);
      const { value: answer } = asked;
      // The code is none. That the secret was looked at first shows in another answer to another one.
      if (answer.error === 'invalid_grant') {
        const madeUp = await postGrant(ground.ask, url, { clientId, secret: makeUp() }, form);
        if (!madeUp.ok) return toNoAnswer(url, madeUp.error);
        const isOther =
          madeUp.value.error !== answer.error || madeUp.value.status !== answer.status;
        return isOther ? found(undefined) : skipped(UNPROVEN);
      }
      if (answer.error === '') return noOAuth(url, answer);
      const others = ground.others.flatMap((probe) => answers.find(probe) ?? []);
      const refused = { url, form, secret, answer, grant: 'authorization_code' };
      return broken(await explainRefusal(refused, others, ground.ask));
    },
  };
}

/** Makes the probe of the device grant of the native app. */
export function createDeviceGrantProbe(
  native: Probe<NativeApp>,
  discovery: Probe<IssuerDocument>,
  ask: Ask,
): Probe {
  return {
    id: 'grants.device',
    group: 'grants',
    title: 'device codes for the native app',
    needs: [native, discovery],
    async run(answers) {
      const { clientId, scopes } = answers.get(native);
      const url = answers.get(discovery)['device_authorization_endpoint'];
      if (typeof url !== 'string')
        return found(undefined, [
          fail(
            'device_grant_not_offered',
            'the identity provider offers no device codes: there is no sign-in from a machine without a browser',
            'Switch the device authorization grant on at the authorization server.',
            ['its metadata has no device_authorization_endpoint'],
          ),
        ]);
      const form = { scope: scopes.join(' '), ...CHALLENGE };
      const asked = await postGrant(ask, url, { clientId }, form);
      if (!asked.ok || asked.value.status === 200) return found(undefined);
      const { value: answer } = asked;
      const isClient = answer.error === 'invalid_client' || answer.status === 401;
      const isScope = answer.error === 'invalid_scope';
      return found(undefined, [
        fail(
          isClient ? 'client_unknown' : isScope ? 'scope_unknown' : 'grant_not_allowed',
          isClient
            ? `the identity provider knows no public application ${clientId}, which the command line signs in with`
            : isScope
              ? `the authorization server does not grant the native app (${clientId}) the scope ${scopes.join(' ')}`
              : `the identity provider does not allow the native app (${clientId}) to use device codes`,
          isClient
            ? 'Correct CLI_CLIENT_ID, or register the native app as a public client.'
            : isScope
              ? `Add the scope ${scopes.join(' ')} to the authorization server.`
              : 'Allow urn:ietf:params:oauth:grant-type:device_code for the native app and in the rule of the authorization server.',
          [answer.line],
        ),
      ]);
    },
  };
}

/** The native app, as the platform names it. */
export interface NativeApp {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
}

/** S256 of a verifier that is kept nowhere; Keycloak wants one here, too. */
export const CHALLENGE: Form = {
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
};

function toNoAnswer(url: string, noAnswer: NoAnswer): Outcome<never> {
  return broken(
    fail(
      'no_http_answer',
      `the token endpoint ${url} ${describeNoAnswer(noAnswer)}`,
      fixNoAnswer(
        noAnswer,
        'Look at the log of the identity provider, and at a proxy in front of it.',
      ),
      [`${url}: ${noAnswer.code}`],
    ),
  );
}

function noOAuth(url: string, answer: TokenAnswer): Outcome<never> {
  return broken(
    fail(
      answer.status >= 500 || answer.status === 429 ? 'idp_fails' : 'token_endpoint_wrong',
      answer.status >= 500 || answer.status === 429
        ? `the token endpoint of the identity provider answers ${answer.status}`
        : `what answers at ${url} is no token endpoint: it answers ${answer.status} without an OAuth error`,
      'Set AUTH_TOKEN_URL to the token_endpoint of the issuer’s metadata.',
      [answer.line],
    ),
  );
}
