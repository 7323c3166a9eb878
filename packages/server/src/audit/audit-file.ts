/**
 * The file of the audit stream: appended to behind the requests, followed when it is rotated.
 *
 * @module
 */

import { close, constants, fstatSync, open, openSync, stat, write } from 'node:fs';
import { promisify } from 'node:util';
import type { Schedule } from '../time/schedule.ts';
import { auditFileUnusable } from './audit-file-failure.ts';

/**
 * Appends bytes; perhaps not all of them, when the space ends.
 *
 * @returns How many.
 */
export type Append = (descriptor: number, bytes: Uint8Array) => Promise<number>;

/** Settings and ports of {@link openAuditFile}. */
export interface AuditFileOptions {
  readonly path: string;
  /** Whether it is made when it is not there: the process that makes it owns it. Default: yes. */
  readonly mayCreate?: boolean | undefined;
  readonly schedule: Schedule;
  /** By default one `write` of the operating system. */
  readonly append?: Append | undefined;
  /** Called once when lines cannot be written any more. */
  readonly onFailure: (cause: unknown) => void;
  /**
   * Called once when they can be written again.
   *
   * @param elsewhere - How many lines were handed back meanwhile.
   */
  readonly onRecovery: (elsewhere: number) => void;
}

/** An open file. */
export interface AuditFile {
  /**
   * Takes a line and returns at once.
   *
   * @param line - With its line feed.
   * @param instead - Called when the line does not get into the file, so that it is not lost.
   */
  write(line: string, instead: () => void): void;
  /** Opens the path anew, as after a rotation; what was taken before may stand in either file. */
  reopen(): void;
  /** Resolves once every line taken is in the file or was handed back, within two seconds. */
  close(): Promise<void>;
  /** Attempts that failed since the file was opened. */
  readonly failures: number;
  /** Lines that were handed back. */
  readonly elsewhere: number;
  /** Lines that were taken and are not in the file yet. */
  readonly waiting: number;
}

interface Entry {
  readonly line: string;
  readonly instead: () => void;
}

interface OpenFile {
  readonly descriptor: number;
  readonly device: number;
  readonly inode: number;
  /** A pipe or terminal cannot be rotated. */
  readonly isRegular: boolean;
}

const openFile = promisify(open);
const closeFile = promisify(close);
const statFile = promisify(stat);
/** Appending, in one call, so that lines of several processes stand one below the other. */
const appendToFile: Append = (descriptor, bytes) =>
  new Promise((resolve, reject) => {
    write(descriptor, bytes, 0, bytes.length, null, (error, written) => {
      if (error === null) resolve(written);
      else reject(error);
    });
  });

/** Open already, and where a socket stands behind them (systemd) they cannot be opened by their name. */
const STANDARD: ReadonlyMap<string, number> = new Map([
  ['/dev/stdout', 1],
  ['/dev/stderr', 2],
]);
const MODE = 0o600;
/** A pipe without a reader is an error at once, and a full one later: neither may hold up a thread. */
const APPEND_ONLY = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK;
/** Characters that wait while nothing can be written; what comes then is handed back at once. */
const WAITING_MAX = 4 * 1024 * 1024;
/** One call takes so many lines at most: requests have their turn in between. */
const BATCH_LINES = 256;
/** How often the path is looked at while lines are written. */
const LOOK_EVERY_MS = 1_000;
const AGAIN_AFTER_MS = 1_000;
const CLOSE_MS = 2_000;

/**
 * Opens the file for appending and makes it, for its owner alone, when it is not there.
 *
 * @throws {SallyportError} `SP_AUDIT_UNUSABLE`, with path and reason, when it cannot be opened: a configured
 *   audit stream that is missing stops the start.
 */
export function openAuditFile(options: AuditFileOptions): AuditFile {
  return new AppendedFile(options);
}

class AppendedFile implements AuditFile {
  readonly #options: AuditFileOptions;
  readonly #flags: number;
  #file: OpenFile;
  #queue: Entry[] = [];
  #waitingLength = 0;
  #failures = 0;
  #elsewhere = 0;
  #elsewhereReported = 0;
  #isFailing = false;
  /** Whether a line may stand there without its end. */
  #isTorn = false;
  #mustReopen = false;
  #mayLook = true;
  #isClosed = false;
  #draining: Promise<void> | undefined;
  #cancelRetry: (() => void) | undefined;

  constructor(options: AuditFileOptions) {
    this.#options = options;
    const { path, mayCreate = true } = options;
    this.#flags = mayCreate ? APPEND_ONLY | constants.O_CREAT : APPEND_ONLY;
    try {
      this.#file = describe(STANDARD.get(path) ?? openSync(path, this.#flags, MODE));
    } catch (cause) {
      throw auditFileUnusable(path, mayCreate, cause);
    }
  }

  get failures(): number {
    return this.#failures;
  }

  get elsewhere(): number {
    return this.#elsewhere;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  write(line: string, instead: () => void): void {
    const entry = { line, instead };
    if (this.#isClosed || this.#waitingLength + line.length > WAITING_MAX) {
      this.#handBack([entry]);
      return;
    }
    this.#queue.push(entry);
    this.#waitingLength += line.length;
    if (this.#cancelRetry === undefined) this.#drain();
  }

  reopen(): void {
    this.#mustReopen = true;
    this.#retry();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { promise: timeUp, resolve } = Promise.withResolvers<void>();
    const cancel = this.#options.schedule(CLOSE_MS, resolve);
    await Promise.race([this.#draining, timeUp]);
    // What failed a moment ago is tried once more: there will be no later.
    if (this.#queue.length > 0) this.#retry();
    await Promise.race([this.#draining, timeUp]);
    cancel();
    this.#cancelRetry?.();
    const left = this.#queue;
    this.#queue = [];
    this.#handBack(left);
    if (!STANDARD.has(this.#options.path))
      await closeFile(this.#file.descriptor).catch(() => undefined);
  }

  #retry(): void {
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    this.#drain();
  }

  #drain(): void {
    this.#draining ??= this.#writeAll().finally(() => {
      this.#draining = undefined;
      // Asked for after the last look at it.
      if ((this.#queue.length > 0 || this.#mustReopen) && this.#cancelRetry === undefined)
        this.#drain();
    });
  }

  async #writeAll(): Promise<void> {
    // What happens in the same turn goes in the same call.
    await new Promise(setImmediate);
    while (this.#queue.length > 0 || this.#mustReopen) {
      try {
        await this.#follow();
        if (this.#queue.length > 0) await this.#writeSome();
        this.#recovered();
      } catch (cause) {
        this.#failed(cause);
        return;
      }
    }
  }

  async #writeSome(): Promise<void> {
    // A pipe takes no more than a page at once without mixing lines of several writers.
    const batch = this.#queue.slice(0, this.#file.isRegular ? BATCH_LINES : 1);
    const start = this.#isTorn ? '\n' : '';
    const bytes = Buffer.from(start + batch.map(({ line }) => line).join(''));
    const { append = appendToFile } = this.#options;
    const written = await append(this.#file.descriptor, bytes);
    let end = start.length;
    let complete = 0;
    for (const { line } of batch) {
      end += Buffer.byteLength(line);
      if (end > written) break;
      complete += 1;
      this.#waitingLength -= line.length;
    }
    this.#queue.splice(0, complete);
    this.#isTorn = written < bytes.length;
  }

  /** Opens the path anew when that was asked for, or when another file stands there by now. */
  async #follow(): Promise<void> {
    const { path, schedule } = this.#options;
    if (!this.#mustReopen) {
      if (!this.#mayLook || !this.#file.isRegular || STANDARD.has(path)) return;
      this.#mayLook = false;
      schedule(LOOK_EVERY_MS, () => {
        this.#mayLook = true;
      });
      const found = await statFile(path).catch(() => undefined);
      if (found?.ino === this.#file.inode && found.dev === this.#file.device) return;
    }
    this.#mustReopen = !STANDARD.has(path);
    if (!this.#mustReopen) return;
    // Until this succeeds nothing is written: the file that was moved may be on its way elsewhere.
    const opened = await openFile(path, this.#flags, MODE);
    this.#mustReopen = false;
    const former = this.#file;
    this.#file = describe(opened);
    // A torn line stands in the other file.
    this.#isTorn = false;
    await closeFile(former.descriptor).catch(() => undefined);
  }

  #failed(cause: unknown): void {
    this.#failures += 1;
    this.#cancelRetry = this.#options.schedule(AGAIN_AFTER_MS, () => this.#retry());
    // Another process may have been cut off in the middle of its line.
    this.#isTorn = true;
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#elsewhereReported = this.#elsewhere;
    this.#options.onFailure(cause);
  }

  #recovered(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#options.onRecovery(this.#elsewhere - this.#elsewhereReported);
  }

  #handBack(entries: readonly Entry[]): void {
    this.#elsewhere += entries.length;
    for (const { instead } of entries) instead();
  }
}

function describe(descriptor: number): OpenFile {
  const found = fstatSync(descriptor);
  return { descriptor, device: found.dev, inode: found.ino, isRegular: found.isFile() };
}
