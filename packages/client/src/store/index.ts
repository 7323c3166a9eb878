/**
 * Reading a kept token and nothing else: for a program that has to answer at once.
 *
 * @module
 */

export { isFresh } from '../source/freshness.ts';
export { createFileTokenStore } from './file-token-store.ts';
