/**
 * Reads what a Redis client sends, off the wire.
 *
 * @module
 */

/** Longest command that is waited for; what is longer is no longer followed. */
const COMMAND_MAX_BYTES = 1_048_576;
const WORD_SHOWN = 64;

/**
 * Creates a reader of one connection's requests: arrays of bulk strings (RESP, "Sending commands to a
 * Redis server"). Gives up silently at anything else, TLS for instance.
 *
 * @param report - Gets each command as one line: its name in capitals, then its words, each cut to 64
 *   characters.
 * @returns Takes the bytes in whatever pieces they come.
 */
export function createCommandReader(report: (command: string) => void): (chunk: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);
  let isLost = false;

  return (chunk) => {
    if (isLost) return;
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const read = readCommand(pending);
      if (read === 'incomplete') break;
      if (read === 'unreadable') {
        isLost = true;
        pending = Buffer.alloc(0);
        return;
      }
      pending = pending.subarray(read.bytes);
      const [name = '', ...words] = read.words;
      report([name.toUpperCase(), ...words].map((word) => word.slice(0, WORD_SHOWN)).join(' '));
    }
    isLost = pending.length > COMMAND_MAX_BYTES;
  };
}

type Read =
  | 'incomplete'
  | 'unreadable'
  | { readonly words: readonly string[]; readonly bytes: number };

function readCommand(buffer: Buffer): Read {
  const count = readLength(buffer, 0, '*');
  if (typeof count === 'string') return count;
  let { next: at } = count;
  const words: string[] = [];
  for (let index = 0; index < count.value; index += 1) {
    const length = readLength(buffer, at, '$');
    if (typeof length === 'string') return length;
    const end = length.next + length.value;
    if (buffer.length < end + 2) return 'incomplete';
    words.push(buffer.toString('latin1', length.next, end));
    at = end + 2;
  }
  return { words, bytes: at };
}

/** A line of one sign and a number. */
function readLength(
  buffer: Buffer,
  at: number,
  sign: '*' | '$',
): 'incomplete' | 'unreadable' | { readonly value: number; readonly next: number } {
  const end = buffer.indexOf('\r\n', at);
  const line = buffer.toString('latin1', at, end === -1 ? buffer.length : end);
  if (line !== '' && !line.startsWith(sign)) return 'unreadable';
  if (end === -1) return line.length > 16 ? 'unreadable' : 'incomplete';
  if (!/^.\d{1,9}$/.test(line)) return 'unreadable';
  return { value: Number(line.slice(1)), next: end + 2 };
}
