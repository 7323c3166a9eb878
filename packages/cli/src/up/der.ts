/**
 * Writes DER, as far as a certificate needs it. Reads none.
 *
 * @module
 */

/** Primitive and constructed tags of X.690 section 8, as one octet each. */
export const TAG = {
  boolean: 0x01,
  bitString: 0x03,
  octetString: 0x04,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

const INTEGER = 0x02;
const OBJECT_IDENTIFIER = 0x06;
const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;
const LONG_FORM = 0x80;
const HIGH_BIT = 0x80;
const BASE_128 = 128;

/** One value: tag, length, content. */
export function value(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const whole = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag, ...lengthOctets(whole.length)]), whole]);
}

/** SEQUENCE of values. */
export function sequence(...content: readonly Uint8Array[]): Buffer {
  return value(TAG.sequence, ...content);
}

/** A context-specific value: constructed around whole values, or primitive with their bytes alone. */
export function context(
  number: number,
  form: 'constructed' | 'primitive',
  ...content: readonly Uint8Array[]
): Buffer {
  return value(CONTEXT | (form === 'constructed' ? CONSTRUCTED : 0) | number, ...content);
}

/** INTEGER from an unsigned big-endian magnitude. */
export function unsigned(magnitude: Uint8Array): Buffer {
  const start = magnitude.findIndex((octet) => octet !== 0);
  const shortest = start === -1 ? new Uint8Array(1) : magnitude.subarray(start);
  const needsSign = ((shortest[0] ?? 0) & HIGH_BIT) !== 0;
  return value(INTEGER, needsSign ? new Uint8Array(1) : new Uint8Array(0), shortest);
}

/** OBJECT IDENTIFIER from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const octets = [first * 40 + second, ...rest].flatMap((arc) => {
    const digits = [arc % BASE_128];
    for (let left = Math.floor(arc / BASE_128); left > 0; left = Math.floor(left / BASE_128))
      digits.unshift((left % BASE_128) | HIGH_BIT);
    return digits;
  });
  return value(OBJECT_IDENTIFIER, Buffer.from(octets));
}

/** BIT STRING of whole octets, or of the first `bits` of them. */
export function bitString(octets: Uint8Array, bits: number = octets.length * 8): Buffer {
  return value(TAG.bitString, Buffer.from([octets.length * 8 - bits]), octets);
}

/** UTCTime up to 2049, GeneralizedTime from 2050 (RFC 5280 section 4.1.2.5). Epoch milliseconds; fractions are cut. */
export function time(epochMs: number): Buffer {
  const digits = new Date(epochMs).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return digits < '2050'
    ? value(TAG.utcTime, Buffer.from(digits.slice(2)))
    : value(TAG.generalizedTime, Buffer.from(digits));
}

function lengthOctets(length: number): readonly number[] {
  if (length < LONG_FORM) return [length];
  const octets: number[] = [];
  for (let left = length; left > 0; left = Math.floor(left / 256)) octets.unshift(left % 256);
  return [LONG_FORM | octets.length, ...octets];
}
