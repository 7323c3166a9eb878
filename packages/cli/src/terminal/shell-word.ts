/**
 * Words of a command line that a person is shown, to be copied.
 *
 * @module
 */

const PLAIN = /^[\w@%+=:,./-]+$/;

/** Writes a text so that a POSIX shell reads it as one word, whatever stands in it; plain where it is one anyway. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
