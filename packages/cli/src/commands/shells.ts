/**
 * Shells that `sallyport completion` writes a script for.
 *
 * @module
 */

/** Their names. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
/** One of {@link SHELLS}. */
export type Shell = (typeof SHELLS)[number];
