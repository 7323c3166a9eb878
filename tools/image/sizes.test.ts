import { describe, expect, it } from 'vitest';
import { describeSizes } from './sizes.ts';

const SIZES = { base: 7_234_048, node: 116_446_488, own: 30_000_000, packed: 49_500_000 };

describe('The sizes of an image', () => {
  it('are printed in megabytes', () => {
    expect(describeSizes(SIZES)).toBe('MB: base 7.2, Node 116.4, Sallyport 30.0; 49.5 packed');
  });

  it('are an error above 30 MB beside base and Node', () => {
    expect(() => describeSizes({ ...SIZES, own: 30_000_001 })).toThrow(/above base and Node/);
  });
});
