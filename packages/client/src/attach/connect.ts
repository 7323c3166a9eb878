/**
 * The platform's bearer header on Connect, gRPC and gRPC-Web calls of `@connectrpc/connect`.
 *
 * @module
 */

import {
  Code,
  ConnectError,
  type Interceptor,
  type StreamRequest,
  type StreamResponse,
  type UnaryRequest,
  type UnaryResponse,
} from '@connectrpc/connect';
import { SallyportError } from '@sallyport/protocol';
import type { TokenRefusal } from '../grant.ts';
import type { TokenSet } from '../token-set.ts';
import { createBearerValue } from './bearer-value.ts';
import { type Attachment, createOriginCheck } from './platform-endpoint.ts';
import { TokenRefusedError } from './token-refused-error.ts';

export type { Attachment } from './platform-endpoint.ts';

type Call = UnaryRequest | StreamRequest;
type Answer = UnaryResponse | StreamResponse;
/** What a second attempt needs. */
interface Prepared {
  readonly attempt: () => Call;
  readonly isRepeatable: boolean;
}

type Replaced = Awaited<ReturnType<Attachment['source']['replace']>>;

/**
 * Creates an interceptor that attaches `<header>: Bearer <token>` to calls to the platform.
 *
 * Answered `unauthenticated`, the token is replaced once and the call is made once more: a unary
 * call, and one that streams answers of which none has arrived. A call that streams requests cannot
 * be made again; its error is passed on after the token was replaced, and so the next call succeeds.
 * `permission_denied` and `unavailable` are no reason to sign in. A call to another origin, and one
 * that brings an authorization header of its own, is passed on as it is.
 *
 * Until the first of its messages has arrived, a call that streams answers shows no headers.
 *
 * @returns An interceptor whose calls reject with `unauthenticated` when no token is to be had (the
 *   cause is a {@link TokenRefusedError}), and with `unavailable` when the outcome is unknown.
 * @throws {SallyportError} `SP_CONFIG_INVALID` for an endpoint that no token may be sent to.
 */
export function createAuthenticatingInterceptor(options: Attachment): Interceptor {
  const { source, header } = options;
  const isPlatform = createOriginCheck(options);
  const toValue = createBearerValue();
  /** A platform reads one header. */
  let headerName: string | undefined;

  return (next) => async (call) => {
    if (!isPlatform(call.url)) return next(call);
    headerName ??= await header().catch(throwUnavailable);
    const name = headerName;
    if (call.header.has(name) || call.header.has('authorization')) return next(call);

    const wait = { signal: call.signal };
    const token = await source.get(wait).catch(throwUnavailable);
    if (!token.ok) throw unauthenticated(token.error);
    const { attempt, isRepeatable } = call.stream ? await prepare(call) : once(call);
    try {
      return await send(token.value);
    } catch (failure) {
      const replaced = await replace(failure);
      if (!replaced?.ok || !isRepeatable) throw failure;
      return send(replaced.value);
    }

    async function send({ accessToken }: TokenSet): Promise<Answer> {
      call.header.set(name, toValue(accessToken));
      const answer = await next(attempt());
      if (!answer.stream) return answer;
      const messages = answer.message[Symbol.asyncIterator]();
      // An answer that streams may turn out to be a refusal when its first message is asked for.
      const first = isRepeatable ? await messages.next() : undefined;
      return { ...answer, message: watch(first, messages) };
    }

    /** Passes messages on; a refusal among them is too late for this call, but not for the next. */
    async function* watch<T>(
      first: IteratorResult<T> | undefined,
      rest: AsyncIterator<T>,
    ): AsyncGenerator<T> {
      let result = first;
      try {
        result ??= await rest.next();
        while (result.done !== true) {
          yield result.value;
          result = await rest.next();
        }
      } catch (failure) {
        await replace(failure);
        throw failure;
      } finally {
        await rest.return?.();
      }
    }

    async function replace(failure: unknown): Promise<Replaced | undefined> {
      if (!token.ok || !(failure instanceof ConnectError)) return undefined;
      if (failure.code !== Code.Unauthenticated) return undefined;
      const refused = token.value;
      return source.replace(refused, wait).catch(throwUnavailable);
    }
  };
}

/** A unary call is its own second attempt. */
function once(call: UnaryRequest): Prepared {
  return { attempt: () => call, isRepeatable: true };
}

/** Keeps what a second attempt needs. */
async function prepare(call: StreamRequest): Promise<Prepared> {
  if (call.method.methodKind !== 'server_streaming')
    return { attempt: () => call, isRepeatable: false };
  const messages: unknown[] = [];
  for await (const message of call.message) messages.push(message);
  return {
    attempt: () => ({ ...call, message: eachOf(messages) as StreamRequest['message'] }),
    isRepeatable: true,
  };
}

async function* eachOf<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

/** Says in the words of Connect that there is no token because something is out of order. */
function throwUnavailable(failure: unknown): never {
  if (!(failure instanceof SallyportError)) throw failure;
  throw new ConnectError(failure.message, Code.Unavailable, undefined, undefined, failure);
}

function unauthenticated(refusal: TokenRefusal): ConnectError {
  const cause = new TokenRefusedError(refusal);
  return new ConnectError(cause.message, Code.Unauthenticated, undefined, undefined, cause);
}
