/**
 * HTML that cannot be injected into, and the frame of every page.
 *
 * @module
 */

import { escapeHtml } from './escape-html.ts';

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

/** What may stand in a template: text is escaped, markup is kept, `undefined` leaves nothing. */
export type HtmlValue = string | number | Html | readonly Html[] | undefined;

/**
 * Builds markup from a template; only {@link Html} that is put into it is markup.
 *
 * Escapes for element content and for quoted attribute values; an unquoted attribute or the inside
 * of `script` and `style` is not a place for a value.
 */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts.map((part, index) => part + toMarkup(values[index])).join(''));
}

function toMarkup(value: HtmlValue): string {
  if (value === undefined) return '';
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value));
  return value instanceof Html ? value.toString() : value.join('');
}

/** What {@link renderDocument} frames. */
export interface HtmlDocument {
  readonly title: string;
  /** The one style sheet, as it is: a content security policy holds the hash of these very characters. */
  readonly style: string;
  /** Further elements of the head, each with a line feed at its end. */
  readonly head?: Html;
  readonly body: Html;
  /** An inline script at the end of the body, as it is, like the style. */
  readonly script?: string | undefined;
}

/**
 * Frames a page: in English, as wide as the screen, without a request for an icon or for anything else.
 *
 * Does not send it, and sets no policy: its caller names the hashes of style and script there.
 */
export function renderDocument({ title, style, head, body, script }: HtmlDocument): string {
  const start = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>`;
  const content = html`</style>
${head}</head>
<body>
${body}
`;
  const end = `${script === undefined ? '' : `<script>${script}</script>\n`}</body>\n</html>\n`;
  return start.toString() + style + content.toString() + end;
}
