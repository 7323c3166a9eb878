/**
 * The configuration language of Terraform, as far as a setup writes it.
 *
 * @module
 */

/** An expression that Terraform evaluates, such as `okta_auth_server.sallyport.id`. Never made of what a user gave. */
export class Expression {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value of an attribute. Texts are literal whatever is in them. */
export type HclValue = string | number | boolean | Expression | readonly HclValue[];

/** A block: its type, labels, attributes, and blocks in it. */
export interface HclBlock {
  readonly type: string;
  readonly labels?: readonly string[];
  readonly attributes: Readonly<Record<string, HclValue>>;
  readonly blocks?: readonly HclBlock[];
}

const INDENT = '  ';
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};
const LAST_CONTROL = 0x1f;

/**
 * Writes a text as a quoted template that has nothing but this text in it: quotes, backslashes, line ends and control
 * characters escaped, and the beginnings of an interpolation and a directive doubled.
 *
 * @see HCL native syntax, "Template Expressions": `$${` and `%%{` are literal `${` and `%{`
 */
export function quoteHcl(text: string): string {
  const escaped = Array.from(text.replace(/([$%])(?=\{)/g, '$1$1'), (character) => {
    const code = character.codePointAt(0) ?? 0;
    return (
      ESCAPES[character] ??
      (code <= LAST_CONTROL ? `\\u${code.toString(16).padStart(4, '0')}` : character)
    );
  });
  return `"${escaped.join('')}"`;
}

/** Writes blocks as a file, with a line feed at its end. */
export function formatHcl(blocks: readonly HclBlock[]): string {
  return `${blocks.map((block) => formatBlock(block, '')).join('\n\n')}\n`;
}

function formatBlock(
  { type, labels = [], attributes, blocks = [] }: HclBlock,
  indent: string,
): string {
  const inner = indent + INDENT;
  const head = [type, ...labels.map(quoteHcl)].join(' ');
  const lines = Object.entries(attributes).map(
    ([name, value]) => `${inner}${name} = ${formatValue(value)}`,
  );
  const nested = blocks.map((block) => formatBlock(block, inner));
  return [`${indent}${head} {`, ...lines, ...nested, `${indent}}`].join('\n');
}

function formatValue(value: HclValue): string {
  if (typeof value === 'string') return quoteHcl(value);
  if (value instanceof Expression) return value.text;
  if (typeof value === 'object') return `[${value.map(formatValue).join(', ')}]`;
  return String(value);
}
