/**
 * The port through which the gateway says what happened.
 *
 * @module
 */

/** Writes one event. Fields hold no path, query, header value or token. */
export type Log = (
  event: string,
  fields: Readonly<Record<string, string | number | boolean>>,
) => void;
