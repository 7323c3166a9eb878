/**
 * HTML that cannot be injected into: a template tag that escapes whatever it is given.
 *
 * @module
 */

import { escapeHtml } from '@sallyport/protocol';

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
  if (typeof value === 'string') return escapeHtml(value);
  return value instanceof Html ? value.toString() : value.join('');
}
