import { describe, expect, it } from 'vitest';
import { type Manifest, packCommandManifest, packLibraryManifest } from './packed-manifest.ts';

const WORKSPACE: Manifest = {
  name: '@sallyport/example',
  version: '1.2.3',
  exports: {
    '.': { source: './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' },
    './inner': { source: './src/inner.ts' },
  },
  dependencies: { pino: '10.4.0' },
  devDependencies: { '@sallyport/testing': '1.2.3' },
};

describe('The manifest of a library', () => {
  it('has neither the condition `source` nor a subpath that leads nowhere else', () => {
    expect(packLibraryManifest(WORKSPACE, undefined)).toEqual({
      name: '@sallyport/example',
      version: '1.2.3',
      exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
      dependencies: { pino: '10.4.0' },
    });
  });

  it('names the commit where it is known', () => {
    expect(packLibraryManifest(WORKSPACE, 'abc')).toMatchObject({ gitHead: 'abc' });
  });
});

describe('The manifest of the command', () => {
  it('has no dependency but the optional ones that are given', () => {
    const packed = packCommandManifest(WORKSPACE, { keyring: '1.0.0' }, 'abc');
    expect(packed).toMatchObject({ optionalDependencies: { keyring: '1.0.0' }, gitHead: 'abc' });
    expect(packed).not.toHaveProperty('dependencies');
    expect(packed).not.toHaveProperty('devDependencies');
  });
});
