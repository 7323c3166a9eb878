/**
 * What is in an image: its digest and the sizes of its layers.
 *
 * @module
 */

import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

/** A reference to a file of the layout (OCI image specification, content descriptors). */
interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

/** An image in an OCI layout. */
export interface ImageSummary {
  /** Of the manifest: what a registry names the image by. */
  readonly digest: string;
  /** Bytes that are transferred. */
  readonly packed: number;
  /** Bytes of each layer's tar archive, from the base upwards. */
  readonly layers: readonly number[];
}

/** Reads an OCI layout that holds one image, packed with gzip. */
export async function summarizeImage(layout: string): Promise<ImageSummary> {
  const read = (path: string): unknown => JSON.parse(readFileSync(join(layout, path), 'utf8'));
  const { manifests } = read('index.json') as { readonly manifests: readonly Descriptor[] };
  const [image] = manifests;
  if (image === undefined || manifests.length > 1)
    throw new Error('the layout holds not one image');
  const manifest = read(pathOf(image)) as {
    readonly config: Descriptor;
    readonly layers: readonly Descriptor[];
  };
  const layers: number[] = [];
  for (const layer of manifest.layers) layers.push(await unpackedSize(join(layout, pathOf(layer))));
  const packed = [manifest.config, ...manifest.layers].reduce((sum, { size }) => sum + size, 0);
  return { digest: image.digest, packed, layers };
}

function pathOf({ digest }: Descriptor): string {
  return `blobs/${digest.replace(':', '/')}`;
}

async function unpackedSize(file: string): Promise<number> {
  let size = 0;
  await pipeline(createReadStream(file), createGunzip(), async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) size += piece.length;
  });
  return size;
}
