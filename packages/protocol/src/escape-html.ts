/**
 * Text as it stands in a page.
 *
 * @module
 */

const ENTITY_BY_CHARACTER: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Escapes text for element content and for quoted attribute values; an unquoted attribute or the
 * inside of `script` and `style` is not a place for it.
 *
 * @param text - Untrusted.
 */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITY_BY_CHARACTER[character] ?? '');
}
