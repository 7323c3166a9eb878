import { expect, it } from 'vitest';
import { askForBuiltInModules } from './built-in-modules.ts';

it.each([
  ['import fs from "node:fs";', 'const fs = process.getBuiltinModule("node:fs");'],
  ['import * as tls$1 from "node:tls";', 'const tls$1 = process.getBuiltinModule("node:tls");'],
  [
    'import { join, resolve as resolve$1 } from "node:path";',
    'const { join, resolve: resolve$1 } = process.getBuiltinModule("node:path");',
  ],
  [
    'import http, { STATUS_CODES } from "node:http";',
    'const http = process.getBuiltinModule("node:http"); const { STATUS_CODES } = process.getBuiltinModule("node:http");',
  ],
])('%s is asked for', (line, expected) => {
  expect(askForBuiltInModules(`before();\n${line}\nafter();`)).toBe(
    `before();\n${expected}\nafter();`,
  );
});

it.each([
  'import { a } from "./chunk.js";',
  'import "node:fs";',
  'const text = `import fs from "node:fs";`;',
])('%s stays', (line) => {
  expect(askForBuiltInModules(line)).toBe(line);
});
