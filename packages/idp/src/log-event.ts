/**
 * How the embedded IdP reports to whoever runs it.
 *
 * @module
 */

/** Writes one event; `event` is a stable dotted name. No field is ever a secret. */
export type LogIdpEvent = (
  event: string,
  fields: Readonly<Record<string, string | number | boolean>>,
) => void;
