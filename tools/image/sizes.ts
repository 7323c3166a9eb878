/**
 * What an image may weigh.
 *
 * @module
 */

/** Bytes of the parts of an image, unpacked unless said otherwise. */
export interface ImageSizes {
  readonly base: number;
  /** 0 where the base brings Node along. */
  readonly node: number;
  /** Everything else. */
  readonly own: number;
  /** The whole image as it is transferred. */
  readonly packed: number;
}

/** What the command may add to base and Node. */
const OWN_MAX_BYTES = 30_000_000;

/** Writes them in one line. @throws When the command adds too much to base and Node. */
export function describeSizes({ base, node, own, packed }: ImageSizes): string {
  if (own > OWN_MAX_BYTES)
    throw new Error(
      `${toMegabytes(own)} MB above base and Node, at most ${toMegabytes(OWN_MAX_BYTES)}`,
    );
  return `MB: base ${toMegabytes(base)}, Node ${toMegabytes(node)}, Sallyport ${toMegabytes(own)}; ${toMegabytes(packed)} packed`;
}

function toMegabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
