/**
 * A lock as files: who holds it is read from names that only one process can create.
 *
 * The first holder links its note to `<name>.lock`. A process that takes over from the holder of a note links
 * its own to `<note's id>.next` beside it, and the end of that row holds the lock. A link fails when
 * the name exists, and the id of a note is used once, so that each holder has one successor at most:
 * two processes that take over at the same time cannot both succeed, which moving or removing the
 * file of a stale holder could not promise, as the one that is moved may be a new holder's by then.
 *
 * @module
 */

import { createHash, randomBytes } from 'node:crypto';
import {
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { ProcessIdentity } from './process-identity.ts';

/** What a holder has written down. */
export interface LockNote {
  /** Unlike every other note's. */
  readonly id: string;
  /** Where it is. */
  readonly path: string;
  /** `undefined` when the note cannot be read: another version's, or damaged. */
  readonly holder: ProcessIdentity | undefined;
  /** Changes with every sign of life. */
  readonly beat: string;
}

/** A row longer than this is broken: each link needs a holder that died. */
const ROW_MAX = 1_000;
/** What is as old as this was left by a process that died: it is needed for microseconds. */
const LEFT_BEHIND_MS = 60_000;

/** The files of one lock. Calls are synchronous, so that a process is not interrupted half way. */
export class LockFile {
  readonly #folder: string;
  readonly #name: string;

  /**
   * @param folder - Exists, and is this user's own.
   * @param name - Safe as a file name.
   */
  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.#name = name;
  }

  /** Who holds the lock; `undefined` when it is free. */
  holder(): LockNote | undefined {
    return this.#row().at(-1);
  }

  /**
   * Takes the lock when it is free, or from its holder.
   *
   * @param from - The holder, as read before: `undefined` for a free lock.
   *
   * @returns The note of the new holder; `undefined` when another process was first.
   */
  take(from: LockNote | undefined, self: ProcessIdentity): LockNote | undefined {
    const path = from === undefined ? this.#rootPath() : this.#nextPath(from.id);
    const text = JSON.stringify({ version: 1, ...self, random: randomBytes(16).toString('hex') });
    const draft = join(this.#folder, `${this.#name}.${randomBytes(8).toString('hex')}.draft`);
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    try {
      linkSync(draft, path);
    } catch (error) {
      // The name was taken, or a holder has swept the draft away before it was linked.
      if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') return undefined;
      throw error;
    } finally {
      rmSync(draft, { force: true });
    }
    const id = idOf(text);
    const row = this.#row();
    if (row.at(-1)?.id === id) return row.at(-1);
    // Freed since its holder was read: this note leads on from one that is gone for good.
    if (!row.some((note) => note.id === id)) removeIfThere(path);
    return undefined;
  }

  /** Gives a sign of life; `at` must be another time than the last one's, and need not be right. */
  beat(note: LockNote, at: number): void {
    try {
      utimesSync(note.path, at / 1_000, at / 1_000);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }

  /** Frees the lock, when the note is still its holder's. */
  free(note: LockNote, self: ProcessIdentity): void {
    // No process takes over from this note once it has its successor, which is this process again.
    if (this.take(note, self) === undefined) return;
    // The root first: without it the rest of the row leads nowhere.
    for (const { path } of this.#row()) removeIfThere(path);
  }

  /** Removes what processes left that died while they took or freed the lock. The caller holds it. */
  sweep(now: number): void {
    const kept = new Set(this.#row().map(({ id }) => `${this.#name}.${id}.next`));
    for (const entry of readdirSync(this.#folder)) {
      if (!entry.startsWith(`${this.#name}.`) || !/\.(?:draft|next)$/.test(entry)) continue;
      const path = join(this.#folder, entry);
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat === undefined || Math.abs(now - stat.mtimeMs) < LEFT_BEHIND_MS) continue;
      if (!kept.has(entry)) removeIfThere(path);
    }
  }

  #row(): LockNote[] {
    const row: LockNote[] = [];
    let note = readNote(this.#rootPath());
    while (note !== undefined && row.length < ROW_MAX) {
      row.push(note);
      note = readNote(this.#nextPath(note.id));
    }
    return row;
  }

  #rootPath(): string {
    return join(this.#folder, `${this.#name}.lock`);
  }

  #nextPath(id: string): string {
    return join(this.#folder, `${this.#name}.${id}.next`);
  }
}

function readNote(path: string): LockNote | undefined {
  try {
    const { mtimeMs } = statSync(path);
    const text = readFileSync(path, 'utf8');
    const id = idOf(text);
    return { id, path, holder: parseHolder(text), beat: `${id} ${mtimeMs}` };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Each note holds random bytes, and one that cannot be read has an id all the same. */
function idOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function parseHolder(text: string): ProcessIdentity | undefined {
  let note: unknown;
  try {
    note = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof note !== 'object' || note === null) return undefined;
  const { version, pid, startTime, place } = note as Record<string, unknown>;
  if (version !== 1 || typeof startTime !== 'string' || typeof place !== 'string') return undefined;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { pid, startTime, place };
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
