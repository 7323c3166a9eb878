/**
 * Unexpected text.
 *
 * @module
 */

import fc from 'fast-check';

/**
 * Text of any UTF-16 code units: control characters, lone surrogates and all.
 *
 * The unit `binary` of fast-check is not used, because it takes a second to set up in each process.
 */
export function anyText(maxLength = 10): fc.Arbitrary<string> {
  const unit = fc.oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0xff }), fc.nat({ max: 0xffff }));
  return fc.array(unit, { maxLength, size: 'max' }).map((units) => String.fromCharCode(...units));
}
