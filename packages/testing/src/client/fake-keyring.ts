/**
 * A keyring module in a file, with the faults of real ones. Loaded by the process beside, with a query:
 * `state`, the file; `fault`, one of `hang`, `hang_on_load`, `end`, `refuse`, `forget`.
 *
 * @module
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const query = new URL(import.meta.url).searchParams;
const state = query.get('state') ?? '';
const fault = query.get('fault');

if (fault === 'hang_on_load') hang();

/** As `Entry` of `@napi-rs/keyring`. */
export class Entry {
  readonly #name: string;

  constructor(service: string, account: string) {
    this.#name = `${service}/${account}`;
    if (fault === 'hang') hang();
    if (fault === 'end') process.exit(1);
    if (fault === 'refuse') throw new Error('Platform failure:\n no bus');
  }

  getPassword(): string | null {
    return load()[this.#name] ?? null;
  }

  setPassword(password: string): void {
    if (fault !== 'forget') save({ ...load(), [this.#name]: password });
  }

  deleteCredential(): boolean {
    const { [this.#name]: removed, ...rest } = load();
    save(rest);
    return removed !== undefined;
  }
}

function load(): Record<string, string> {
  return existsSync(state)
    ? (JSON.parse(readFileSync(state, 'utf8')) as Record<string, string>)
    : {};
}

function save(items: Record<string, string>): void {
  writeFileSync(state, JSON.stringify(items));
}

/** As native code does that waits for a prompt: nothing else runs in the process. */
function hang(): never {
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
