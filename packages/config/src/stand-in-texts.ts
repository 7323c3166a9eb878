/**
 * Texts that stand in a chart or an example where a secret belongs.
 *
 * @module
 */

/**
 * What charts and examples put in place of a client secret, in lower case. The one list: services and the
 * doctor know a stand-in by it. The charts write none of them.
 */
export const STAND_IN_TEXTS: readonly string[] = [
  'placeholder',
  'stand-in',
  'foobar',
  'changeme',
  'change-me',
  'change_me',
  'replaceme',
  'replace-me',
  'replace_me',
  'todo',
  'your-client-secret',
  'client-secret',
  'client_secret',
];

/** A template that was not filled in: `<client secret>`, `{{ .Values.secret }}`, `${CLIENT_SECRET}`. */
const TEMPLATE = /^(?:<[^<>]*>|\{\{[^{}]*\}\}|\$\{[^{}]*\})$/;

/** Whether a text stands in for a secret. White space and quotes around it, and its case, make no difference. */
export function isStandInText(text: string): boolean {
  const bare = text.trim().replace(/^(["'])(.*)\1$/s, '$2');
  return STAND_IN_TEXTS.includes(bare.toLowerCase()) || TEMPLATE.test(bare);
}
