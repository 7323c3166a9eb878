/**
 * Files that other programs on the machine can change or read: `@sallyport/config/files`.
 *
 * @module
 */

export { findOpenFolder } from './open-folder.ts';
