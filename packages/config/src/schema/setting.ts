/**
 * What the schema says of one key, and how the schema mirrors `Config`.
 *
 * @module
 */

import type { Kind } from '../kinds/kind.ts';
import type { SecretText } from '../secret-text.ts';

/** When a key has to be given. */
type Required =
  /** Always. */
  | 'always'
  /** When `server.security.useAuth` is true. */
  | 'with-auth'
  /** When the file or a flag gives any key of its block and the block is not switched off. */
  | 'with-block';

/** One key of the file. */
export interface Setting<T> {
  readonly kind: Kind<T>;
  /** The value when no source gives one; for a required key, what stands in its place. */
  readonly fallback: T;
  /** Another key of text whose value gives the default instead, unless that is empty. */
  readonly fallbackFrom?: {
    readonly key: string;
    /** For the documentation: what it becomes. */
    readonly text: string;
    readonly derive: (value: string) => T;
  };
  readonly required?: Required;
  /** Environment variable that gives the value. */
  readonly variable?: string;
  /** For the documentation: one or two sentences of Markdown. */
  readonly meaning: string;
}

/** Values of `Config` that are one key of the file. */
type Leaf = string | number | boolean | readonly string[] | readonly object[] | SecretText;

type KeyName<Field> = Field extends `${infer Stem}Ms` ? Stem : Field;

/**
 * The schema's shape for a part of `Config`: a setting for every field, none left out, none too many,
 * each of the field's type.
 */
export type SchemaOf<Part> = {
  readonly [Field in keyof Part as KeyName<Field>]: Part[Field] extends Leaf
    ? Setting<Part[Field]>
    : SchemaOf<Part[Field]>;
};
