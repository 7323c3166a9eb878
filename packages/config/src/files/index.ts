/**
 * Files that other programs on the machine can change or read: `@sallyport/config/files`.
 *
 * @module
 */

export {
  type FileRefusal,
  type FileTerms,
  readBoundedBytes,
  readBoundedFile,
} from './bounded-file.ts';
export { readFileVersion } from './file-version.ts';
export { makeFolder } from './make-folder.ts';
export { findOpenFolder } from './open-folder.ts';
export { type WholeFileOptions, writeWholeFile, writeWholeFileInBackground } from './whole-file.ts';
