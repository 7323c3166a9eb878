import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { requireIntegrity } from './node-binary.ts';

const BYTES = Buffer.from('a package');
const digest = (algorithm: string, bytes: Buffer) =>
  `${algorithm}-${createHash(algorithm).update(bytes).digest('base64')}`;

describe('The package of Node', () => {
  it('is taken with the digest of the lockfile', () => {
    expect(() => requireIntegrity(BYTES, digest('sha512', BYTES), 'node')).not.toThrow();
  });

  it.each([
    ['other bytes', digest('sha512', Buffer.from('another package'))],
    ['a weaker digest', digest('sha1', BYTES)],
    ['no digest', ''],
  ])('is refused with %s', (_, integrity) => {
    expect(() => requireIntegrity(BYTES, integrity, 'node')).toThrow(/not that of the lockfile/);
  });
});
