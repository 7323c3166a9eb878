/**
 * Markup in which every inserted text is escaped.
 *
 * @module
 */

import { escapeHtml } from '@sallyport/protocol';

/** Markup made by {@link html}; the one way text gets into a page. */
export interface Html {
  readonly markup: string;
}

/** What may stand in a template: text is escaped, markup is kept, `undefined` leaves nothing. */
export type HtmlValue = string | number | Html | readonly Html[] | undefined;

/**
 * Builds markup from a template.
 *
 * Escapes for element content and for quoted attribute values; an unquoted attribute or the inside
 * of `script` and `style` is not a place for a value.
 */
export function html(texts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const parts = texts.map((text, index) => text + markupOf(values[index]));
  return { markup: parts.join('') };
}

function markupOf(value: HtmlValue): string {
  if (value === undefined) return '';
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value));
  if ('markup' in value) return value.markup;
  return value.map(({ markup }) => markup).join('');
}
