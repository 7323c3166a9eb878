/**
 * The operating system's keyring, through a process beside this one.
 *
 * @module
 */

import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { extname } from 'node:path';
import { accept, type Result, refuse, SallyportError } from '@sallyport/protocol';
import { releaseAtExit } from '../lock/release-at-exit.ts';
import type { Keyring, KeyringReply, KeyringRequest } from './keyring.ts';

/** What {@link createOsKeyring} can be given instead of the real thing. */
export interface OsKeyringOptions {
  /** The keyring module: a package name or a `file:` URL. */
  readonly module?: string;
  /** Ends the wait after so many milliseconds. */
  readonly limit?: (ms: number) => AbortSignal;
  /** Characters that one item can hold. */
  readonly itemMaxLength?: number;
}

/** A slower backend counts as one that never answers: some wait for a prompt that is not visible. */
const CALL_MS = 3_000;
/** Starting the process is not the keyring's fault, and takes time on a busy machine. */
const START_MS = 15_000;
/** Windows Credential Manager holds 2,560 bytes, two for each character. The others hold more than any token. */
const ITEM_MAX_LENGTH: number = process.platform === 'win32' ? 1_200 : 65_536;

/**
 * Opens the keyring. Nothing is loaded and no process is started before the first call.
 *
 * Each call may take three seconds; one that takes longer is given up together with its process, so
 * that a backend without a desktop session behind it does not hang the program. Calls run one after
 * another. The process beside does not keep this one alive.
 */
export function createOsKeyring(options: OsKeyringOptions = {}): Keyring {
  const { module = '@napi-rs/keyring', itemMaxLength = ITEM_MAX_LENGTH } = options;
  const limit = options.limit ?? ((ms) => AbortSignal.timeout(ms));
  let beside: { readonly child: ChildProcess; end(): void } | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let probed: Promise<Result<undefined, string>> | undefined;

  return {
    itemMaxLength,
    read: async (account) => (await call({ call: 'read', account })) ?? undefined,
    async write(account, value) {
      await call({ call: 'write', account, value });
    },
    async remove(account) {
      await call({ call: 'remove', account });
    },
    probe() {
      probed ??= probe();
      return probed;
    },
    close: () => beside?.end(),
  };

  async function probe(): Promise<Result<undefined, string>> {
    const account = `probe-${randomBytes(8).toString('hex')}`;
    const value = randomBytes(8).toString('hex');
    try {
      await call({ call: 'write', account, value });
      const found = await call({ call: 'read', account });
      await call({ call: 'remove', account });
      return found === value
        ? accept(undefined)
        : refuse('it does not give back what it was given');
    } catch (failure) {
      return refuse(failure instanceof SallyportError ? String(failure.cause) : 'unknown');
    }
  }

  function call(request: KeyringRequest): Promise<string | null> {
    const answered = last.then(() => exchange(request));
    last = answered.catch(() => undefined);
    return answered;
  }

  async function exchange(request: KeyringRequest): Promise<string | null> {
    try {
      beside ??= await start();
      const { child } = beside;
      const reply = await receive(child, limit(CALL_MS), () => child.send(request));
      if ('failure' in reply) throw new KeyringFailure(reply.failure);
      return 'value' in reply ? reply.value : null;
    } catch (failure) {
      if (!(failure instanceof KeyringFailure)) beside?.end();
      throw unusable(failure);
    }
  }

  async function start(): Promise<NonNullable<typeof beside>> {
    const program = new URL(`./keyring-process${extname(import.meta.url)}`, import.meta.url);
    const child = fork(program, [module], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const kill = (): void => void child.kill('SIGKILL');
    const takeBack = releaseAtExit(kill);
    const started = {
      child,
      end(): void {
        takeBack();
        kill();
        if (beside === started) beside = undefined;
      },
    };
    child.once('exit', () => started.end());
    try {
      await receive(child, limit(START_MS), () => undefined);
    } catch (failure) {
      started.end();
      throw failure;
    }
    return started;
  }
}

/** The keyring's own words; the process beside is well. */
class KeyringFailure extends Error {}

/** Waits for one message, and keeps this process alive only meanwhile. */
async function receive(
  child: ChildProcess,
  limit: AbortSignal,
  send: () => unknown,
): Promise<KeyringReply> {
  const { promise, resolve, reject } = Promise.withResolvers<KeyringReply>();
  const onMessage = (message: unknown): void => resolve(message as KeyringReply);
  const onEnd = (): void => reject(new Error('the process beside ended'));
  const onLimit = (): void => reject(new Error('no answer in time'));
  child.once('message', onMessage).once('exit', onEnd).once('error', onEnd);
  limit.addEventListener('abort', onLimit, { once: true });
  child.ref();
  child.channel?.ref();
  try {
    limit.throwIfAborted();
    send();
    return await promise;
  } finally {
    child.off('message', onMessage).off('exit', onEnd).off('error', onEnd);
    limit.removeEventListener('abort', onLimit);
    child.unref();
    child.channel?.unref();
  }
}

/** The backend's words are about itself and hold no item; they are made printable and short. */
function unusable(failure: unknown): SallyportError {
  const words = failure instanceof Error ? failure.message : 'unknown';
  const reason = words.replace(/[^\x21-\x7e]+/g, ' ').slice(0, 200);
  return new SallyportError('SP_TOKEN_STORE_UNUSABLE', {
    component: 'token-store:keyring',
    detail: `the keyring cannot be used (${reason}); unlock it, or choose the file store`,
    cause: reason,
  });
}
