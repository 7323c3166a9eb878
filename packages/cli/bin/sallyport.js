#!/usr/bin/env node
// Plain JavaScript that an old Node can read, so that it can say what is wrong.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 11)) {
  console.error(
    `sallyport needs Node 24.11 or later; this is ${process.version}. In a checkout, "npm ci" brings one along: use "npm start" or "npx sallyport".`,
  );
  process.exit(1);
}

// Compiled code is kept, in a folder nobody else can write to: a command that only prints a kept token
// spends most of its time on loading. Where that is not possible, nothing is lost but time.
const [{ enableCompileCache }, { homedir }, { join }] = await Promise.all([
  import('node:module'),
  import('node:os'),
  import('node:path'),
]);
const caches = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
enableCompileCache(join(caches, 'sallyport', 'compiled'));

const { existsSync } = await import('node:fs');
const source = new URL('../src/main.ts', import.meta.url);
if (existsSync(source)) {
  // A checkout runs its TypeScript unbuilt: the packages' `source` export condition leads there.
  const { registerHooks } = await import('node:module');
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: ['source', ...context.conditions] }),
  });
  await import(source.href);
} else {
  await import('../dist/main.js');
}
