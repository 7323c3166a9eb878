import { describe, expect, it } from 'vitest';
import { drawQrCode } from './qr-code.ts';

describe('A QR code', () => {
  it('is drawn when it fits the terminal, and not when it would wrap', () => {
    const url = 'https://idp.example/device?user_code=ABCD-EFGH';
    const lines = drawQrCode(url, 80) ?? [];
    const width = Math.max(...lines.map((line) => Array.from(line).length));
    expect(width).toBeGreaterThan(20);
    expect(drawQrCode(url, width)).toEqual(lines);
    expect(drawQrCode(url, width - 1)).toBeUndefined();
  });
});
