/**
 * HTML that cannot be injected into: a template tag that escapes whatever it is given.
 *
 * @module
 */

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup that needs no escaping because {@link html} made it. */
export class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

/** Builds markup; strings put into it are text, only other {@link Html} is markup. */
export function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | Html | readonly Html[])[]
): Html {
  let markup = parts[0] ?? '';
  for (const [index, value] of values.entries())
    markup += toMarkup(value) + (parts[index + 1] ?? '');
  return new Html(markup);
}

function toMarkup(value: string | Html | readonly Html[]): string {
  if (typeof value === 'string')
    return value.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
  return value instanceof Html ? value.toString() : value.join('');
}
