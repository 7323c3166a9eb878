/**
 * One call of `@grpc/grpc-js` that waits for its token, and is made again when that was refused.
 *
 * @module
 */

import { type InterceptingListener, Metadata, type NextCall, status } from '@grpc/grpc-js';
import { SallyportError } from '@sallyport/protocol';
import type { TokenSet } from '../token-set.ts';
import type { Attachment } from './platform-endpoint.ts';
import { TokenRefusedError } from './token-refused-error.ts';

type Call = ReturnType<NextCall>;
type Status = Parameters<InterceptingListener['onReceiveStatus']>[0];
type SentMessage = Parameters<Call['sendMessageWithContext']>;

/** What {@link AuthenticatedCall} needs. */
export interface AuthenticatedCallOptions extends Pick<Attachment, 'source' | 'header'> {
  /** Makes the call anew; it is not started. */
  readonly open: () => Call;
  /** Whether the peer of a call may be given a token. */
  readonly mayHaveToken: (peer: string) => boolean;
  /** Whether the request is one message, which is kept for a second attempt. */
  readonly isRepeatable: boolean;
}

/**
 * Stands in for the call until there is one, and keeps what a second attempt needs.
 *
 * What the first attempt brings is held back until it is clear that it will not be made again.
 */
export class AuthenticatedCall implements Call {
  readonly #options: AuthenticatedCallOptions;
  readonly #ending = new AbortController();
  #call: Call | undefined;
  #metadata = new Metadata();
  #listener: Partial<InterceptingListener> = {};
  #sent: SentMessage[] = [];
  #isHalfClosed = false;
  #isReading = false;
  #isEnded = false;

  constructor(options: AuthenticatedCallOptions) {
    this.#options = options;
  }

  start(metadata: Metadata, listener: Partial<InterceptingListener> = {}): void {
    this.#metadata = metadata;
    this.#listener = listener;
    this.#begin().catch((failure: unknown) => this.#fail(failure));
  }

  sendMessageWithContext(...message: SentMessage): void {
    if (this.#call === undefined || this.#options.isRepeatable) this.#sent.push(message);
    this.#call?.sendMessageWithContext(...message);
  }

  sendMessage(message: unknown): void {
    this.sendMessageWithContext({}, message);
  }

  halfClose(): void {
    this.#isHalfClosed = true;
    this.#call?.halfClose();
  }

  startRead(): void {
    this.#isReading = true;
    this.#call?.startRead();
  }

  cancelWithStatus(code: status, details: string): void {
    this.#ending.abort();
    if (this.#call === undefined) this.#end({ code, details, metadata: new Metadata() });
    else this.#call.cancelWithStatus(code, details);
  }

  getPeer(): string {
    return this.#call?.getPeer() ?? 'unknown';
  }

  getAuthContext(): ReturnType<Call['getAuthContext']> {
    return this.#call?.getAuthContext() ?? null;
  }

  async #begin(): Promise<void> {
    const { source, header } = this.#options;
    const headerName = await header();
    const isOwn = [headerName, 'authorization'].some((name) => this.#metadata.get(name).length > 0);
    if (isOwn) return this.#attempt(undefined);
    const token = await source.get({ signal: this.#ending.signal });
    if (!token.ok) throw new TokenRefusedError(token.error);
    this.#attempt({ headerName, token: token.value, isLast: false });
  }

  /** Makes the call, with the token when its peer may have it. */
  #attempt(attached: Attached | undefined): void {
    if (this.#isEnded) return;
    const call = this.#options.open();
    const metadata = this.#metadata.clone();
    const isAttached = attached !== undefined && this.#options.mayHaveToken(call.getPeer());
    if (isAttached) metadata.set(attached.headerName, `Bearer ${attached.token.accessToken}`);
    this.#call = call;
    call.start(metadata, isAttached && !attached.isLast ? this.#watch(attached) : this.#listener);
    for (const [context, message] of this.#sent) call.sendMessageWithContext(context, message);
    if (!this.#options.isRepeatable) this.#sent = [];
    if (this.#isHalfClosed) call.halfClose();
    if (this.#isReading) call.startRead();
  }

  #watch(attached: Attached): InterceptingListener {
    let held: (() => void)[] = [];
    let hasMessage = false;
    const pass = (step: () => void): void => {
      if (hasMessage || !this.#options.isRepeatable) step();
      else held.push(step);
    };
    const passHeld = (): void => {
      for (const step of held) step();
      held = [];
    };
    return {
      onReceiveMetadata: (metadata) => pass(() => this.#listener.onReceiveMetadata?.(metadata)),
      onReceiveMessage: (message) => {
        // A unary call that failed brings null for its message.
        if (message !== null) {
          hasMessage = true;
          this.#isReading = false;
          passHeld();
        }
        pass(() => this.#listener.onReceiveMessage?.(message));
      },
      onReceiveStatus: (received) => {
        const passOn = (): void => {
          passHeld();
          this.#end(received);
        };
        if (received.code !== status.UNAUTHENTICATED || this.#ending.signal.aborted) passOn();
        else this.#replace(attached, hasMessage, passOn).catch((failure) => this.#fail(failure));
      },
    };
  }

  async #replace(attached: Attached, isTooLate: boolean, passOn: () => void): Promise<void> {
    this.#call = undefined;
    const { signal } = this.#ending;
    const replaced = await this.#options.source.replace(attached.token, { signal });
    if (!replaced.ok || isTooLate || !this.#options.isRepeatable) {
      passOn();
      return;
    }
    // The write callback of the message has been called already: it must not be called again.
    this.#sent = this.#sent.map(([{ flags }, message]) => [
      flags === undefined ? {} : { flags },
      message,
    ]);
    this.#attempt({ ...attached, token: replaced.value, isLast: true });
  }

  #fail(failure: unknown): void {
    const metadata = new Metadata();
    if (failure instanceof TokenRefusedError)
      this.#end({ code: status.UNAUTHENTICATED, details: failure.message, metadata });
    else if (failure instanceof SallyportError)
      this.#end({ code: status.UNAVAILABLE, details: failure.message, metadata });
    else this.#end({ code: status.INTERNAL, details: 'the call could not be made', metadata });
  }

  #end(received: Status): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#listener.onReceiveStatus?.(received);
  }
}

interface Attached {
  readonly headerName: string;
  readonly token: TokenSet;
  /** Whether a refusal is final. */
  readonly isLast: boolean;
}
