/**
 * The process beside that calls the keyring, because some backends never return.
 *
 * A thread would not do: one that is stuck in native code can neither be ended nor let the process
 * end. Started by os-keyring.ts with the keyring module as its one argument; secrets come and go
 * through the channel alone.
 *
 * @module
 */

import type { KeyringReply, KeyringRequest } from './keyring.ts';

const SERVICE = 'sallyport';

/** The part of `@napi-rs/keyring` that is used. */
interface KeyringModule {
  readonly Entry: new (
    service: string,
    account: string,
    options: { readonly linux: { readonly store: 'secret-service' } },
  ) => {
    getPassword(): string | null;
    setPassword(password: string): void;
    deleteCredential(): boolean;
  };
}

const module = process.argv[2] ?? '';

process.on('message', (request: KeyringRequest) => {
  void answer(request);
});
process.on('disconnect', () => process.exit());
reply({ ready: true });

async function answer({ call, account, value = '' }: KeyringRequest): Promise<void> {
  try {
    const { Entry } = (await import(module)) as KeyringModule;
    // The kernel's keyring, which the module falls back to on Linux, forgets when the session ends.
    const entry = new Entry(SERVICE, account, { linux: { store: 'secret-service' } });
    if (call === 'write') entry.setPassword(value);
    if (call === 'remove') entry.deleteCredential();
    reply({ value: call === 'read' ? entry.getPassword() : null });
  } catch (error) {
    reply({ failure: error instanceof Error ? error.message : 'unknown' });
  }
}

function reply(message: KeyringReply): void {
  process.send?.(message);
}
