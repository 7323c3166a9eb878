/**
 * Looking for a test by its title in the text of a test file.
 *
 * @module
 */

const SWITCHED_OFF = /\b(?:it|test|describe)\.(?:\w+\.)*(?:skip|only|todo|fails)\b/;
/** What stands before the title of a plain test. */
const PLAIN_TEST = /(?<![\w.])(?:it|test)(?:\.concurrent|\.sequential)?\($/;
/** What stands before the title of a table or a conditional test: the second call of `it.each(…)(`. */
const SECOND_CALL = /[)`]\($/;
const FIRST_CALL = /\b(it|test|describe)\.(?:\w+\.)*(?:each|for|skipIf|runIf)\b/g;

/**
 * Whether a file holds a test of that title that runs.
 *
 * The title stands as the first argument of an `it` or `test` call, spelled as a string literal. What
 * a table or a template fills in (`%s`, `${name}`) is given as it stands in the source.
 *
 * @param source - Text of a formatted TypeScript file.
 */
export function holdsTest(source: string, title: string): boolean {
  return spellingsOf(title).some((spelling) => {
    for (let at = source.indexOf(spelling); at >= 0; at = source.indexOf(spelling, at + 1)) {
      if (opensTest(source.slice(0, at).trimEnd())) return true;
    }
    return false;
  });
}

/**
 * Whether a file switches tests off or runs some alone, so that a title in it proves nothing.
 *
 * `skipIf` and `runIf` stay allowed: a test of a part that is missing says so by name.
 */
export function switchesTestsOff(source: string): boolean {
  return SWITCHED_OFF.test(source);
}

function opensTest(before: string): boolean {
  const line = before.slice(before.lastIndexOf('\n') + 1);
  if (/^\s*(?:\/\/|\/?\*)/.test(line)) return false;
  if (PLAIN_TEST.test(before)) return true;
  if (!SECOND_CALL.test(before)) return false;
  const opener = [...before.matchAll(FIRST_CALL)].at(-1)?.[1];
  return opener === 'it' || opener === 'test';
}

/** The string literals a title may be written as: in each kind of quotes, escaped or as given. */
function spellingsOf(title: string): readonly string[] {
  const escaped = title.replaceAll('\\', '\\\\');
  return [
    ...["'", '"'].flatMap((quote) =>
      [title, escaped.replaceAll(quote, `\\${quote}`)].map((body) => quote + body + quote),
    ),
    ...[title, escaped.replaceAll('`', '\\`').replaceAll('${', '\\${')].map(
      (body) => `\`${body}\``,
    ),
  ];
}
