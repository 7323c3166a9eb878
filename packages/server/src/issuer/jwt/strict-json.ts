/**
 * JSON objects that mean the same to every reader: no member twice, no bottomless nesting.
 *
 * @module
 */

import type { JsonValue } from '@sallyport/protocol';

/** A JSON object as it was parsed; any type may stand under any name. */
export type JsonObject = Readonly<Record<string, JsonValue>>;

/** Deeper nesting is no token's, and a walk down it could overflow the stack. */
const NESTING_MAX = 32;

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Parses one JSON object.
 *
 * `JSON.parse` keeps the last of two members of one name, other parsers the first; a token that
 * means two things is refused (RFC 7519 section 4). The members are counted in the text and in the
 * result: fewer in the result means that one was there twice. Says nothing about numbers, which may
 * come out infinite.
 *
 * @returns The object; `undefined` for anything else.
 */
export function parseStrictObject(text: string): JsonObject | undefined {
  const members = countMembers(text);
  if (members === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return countNames(value) === members ? (value as JsonObject) : undefined;
}

/** Colons outside strings; in valid JSON each belongs to one member. `undefined` when nested too deep. */
function countMembers(text: string): number | undefined {
  let depth = 0;
  let members = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        if (at === -1) return undefined;
        break;
      case COLON:
        members += 1;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        if (depth > NESTING_MAX) return undefined;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
    }
  }
  return members;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
    end = text.indexOf('"', end + 1);
  }
  return -1;
}

function countNames(value: object): number {
  let names = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const child of Object.values(value) as unknown[])
    if (typeof child === 'object' && child !== null) names += countNames(child);
  return names;
}
