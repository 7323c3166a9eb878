/**
 * Signing in: between the authorization request and its answer.
 *
 * An interaction is bound to the browser that started it by a signed cookie on its own path, so a
 * foreign page can neither show nor submit the form.
 *
 * @module
 */

import { SessionNotFound } from 'oidc-provider/lib/helpers/errors.js';
import type { Context, Interaction, Provider, RouteContext } from 'oidc-provider/lib/provider.js';
import { applicationsOf, type IdpSpec } from '../spec/idp-spec.ts';
import { readForm } from './form-body.ts';
import type { LogIdpEvent } from './log-event.ts';
import { renderExpiredSignInPage, renderUnreadableFormPage } from './pages/error.ts';
import { renderSignInPage } from './pages/sign-in.ts';
import { interactionPath, isInteractionPath } from './routes.ts';
import type { SignInLimiter } from './sign-in-limiter.ts';
import { type SeededUser, verifyPassword } from './users.ts';

/** What signing in needs. */
export interface InteractionDependencies {
  readonly provider: Provider;
  readonly spec: IdpSpec;
  readonly users: readonly SeededUser[];
  readonly limiter: SignInLimiter;
  readonly log: LogIdpEvent;
  /** Answers instead of the page for some requests; absent shows the page each time. */
  readonly chooseUser?: (() => SeededUser) | undefined;
}

type Middleware = (context: Context | RouteContext, next: () => Promise<void>) => Promise<void>;

const FORM_BYTES_MAX = 8 * 1_024;
const LOGIN_HINT_MAX = 128;
const WRONG_CREDENTIALS = 'The user name or the password is not right.';

/**
 * Creates the middleware that answers the paths of interactions and leaves all others alone.
 *
 * GET shows the form. POST answers 303 back into the authorization request when the credentials
 * are right or the person cancels, else the form again: 403 for wrong credentials, 429 with
 * `Retry-After` after too many of them, 400 or 413 for a request that is no such form.
 */
export function createInteractionRoute(dependencies: InteractionDependencies): Middleware {
  const { provider, chooseUser } = dependencies;

  return async function interactionRoute(context, next) {
    if (!isInteractionPath(context.path)) return next();
    context.type = 'html';
    const interaction = await findInteraction(provider, context);
    if (interaction === undefined) {
      context.status = 400;
      context.body = renderExpiredSignInPage();
      return;
    }
    if (chooseUser !== undefined) return signInWithoutPage(dependencies, context, chooseUser());
    if (context.method === 'GET' || context.method === 'HEAD') {
      const hint = interaction.params['login_hint'];
      const login = typeof hint === 'string' ? hint.slice(0, LOGIN_HINT_MAX) : '';
      return showForm(dependencies, context, interaction, { login });
    }
    if (context.method === 'POST') return submit(dependencies, context, interaction);
    context.status = 405;
    context.set('allow', 'GET, HEAD, POST');
    context.body = '';
  };
}

async function signInWithoutPage(
  dependencies: InteractionDependencies,
  context: Context,
  user: SeededUser,
): Promise<void> {
  dependencies.log('idp.sign_in.automatic', { login: user.login });
  await finish(dependencies, context, loginOf(user));
}

async function submit(
  dependencies: InteractionDependencies,
  context: Context,
  interaction: Interaction,
): Promise<void> {
  const { users, limiter, log } = dependencies;
  const form = await readForm(context.req, FORM_BYTES_MAX);
  if (!form.ok) {
    context.status = form.error.reason === 'form_too_large' ? 413 : 400;
    context.set('connection', 'close');
    context.body = renderUnreadableFormPage();
    return;
  }
  if (form.value.has('cancel')) return finish(dependencies, context, CANCELLED);

  const login = form.value.get('login') ?? '';
  const attempt = { login, address: context.req.socket.remoteAddress ?? '' };
  const retryAfterSeconds = limiter.retryAfterSeconds(attempt);
  if (retryAfterSeconds > 0) {
    log('idp.sign_in.limited', { login: loggable(users, login) });
    context.set('retry-after', String(retryAfterSeconds));
    const alert = `Too many failed attempts. Wait ${Math.ceil(retryAfterSeconds / 60)} minutes and try again.`;
    return showForm(dependencies, context, interaction, { login, alert, status: 429 });
  }

  const user = verifyPassword(users, login, form.value.get('password') ?? '');
  if (user === undefined) {
    limiter.recordFailure(attempt);
    log('idp.sign_in.refused', { login: loggable(users, login) });
    const problem = { login, alert: WRONG_CREDENTIALS, status: 403 };
    return showForm(dependencies, context, interaction, problem);
  }
  limiter.forget(attempt);
  log('idp.sign_in.succeeded', { login: user.login });
  await finish(dependencies, context, loginOf(user, 'pwd'));
}

const CANCELLED = { error: 'access_denied', error_description: 'the sign-in was cancelled' };

/** The result of every prompt that the policy can ask for; `amr` values are of RFC 8176. */
function loginOf(user: SeededUser, method?: 'pwd'): Readonly<Record<string, unknown>> {
  const amr = method === undefined ? {} : { amr: [method] };
  return { login: { accountId: user.login, ...amr }, select_account: {} };
}

async function finish(
  { provider }: InteractionDependencies,
  context: Context,
  result: Readonly<Record<string, unknown>>,
): Promise<void> {
  const returnTo = await provider.interactionResult(context.req, context.res, result, {
    mergeWithLastSubmission: false,
  });
  context.status = 303;
  context.redirect(returnTo);
}

async function findInteraction(
  provider: Provider,
  context: Context,
): Promise<Interaction | undefined> {
  try {
    const interaction = await provider.interactionDetails(context.req, context.res);
    return interactionPath(interaction.uid) === context.path ? interaction : undefined;
  } catch (cause) {
    if (cause instanceof SessionNotFound) return undefined;
    throw cause;
  }
}

function showForm(
  { spec }: InteractionDependencies,
  context: Context,
  interaction: Interaction,
  shown: { readonly login: string; readonly alert?: string; readonly status?: number },
): void {
  const clientId = interaction.params['client_id'];
  const application = applicationsOf(spec).find((candidate) => candidate.clientId === clientId);
  context.status = shown.status ?? 200;
  context.body = renderSignInPage({
    action: interactionPath(interaction.uid),
    applicationName: application?.name ?? 'an application',
    login: shown.login,
    ...(shown.alert === undefined ? {} : { alert: shown.alert }),
  });
}

/** People type passwords into the wrong field: only a login that exists is fit for a log. */
function loggable(users: readonly SeededUser[], login: string): string {
  return users.some((user) => user.login === login) ? login : 'unknown';
}
