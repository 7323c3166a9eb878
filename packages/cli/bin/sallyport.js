#!/usr/bin/env node
// Plain JavaScript that an old Node can read, so that it can say what is wrong.
// A checkout runs its TypeScript unbuilt: the packages' export condition `source` leads there.
const source = new URL('../src/main.ts', import.meta.url);
const { existsSync } = process.getBuiltinModule?.('node:fs') ?? (await import('node:fs'));
const isCheckout = existsSync(source);
// Said first, on every Node: the packages bring the right one along.
if (isCheckout && !existsSync(new URL('../../../node_modules/@sallyport', import.meta.url))) {
  console.error(
    'sallyport: this checkout has no packages yet. Run "npm ci" in its top folder, then "npm start" or "npx sallyport".',
  );
  process.exit(1);
}
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 11)) {
  console.error(
    `sallyport needs Node 24.11 or later; this is ${process.version}.${isCheckout ? ' This checkout has one: use "npm start" or "npx sallyport".' : ' https://nodejs.org has it.'}`,
  );
  process.exit(1);
}

const GIGABYTE = 2 ** 30;
const SOURCE_CONDITION = '--conditions=source';

const SERVING = ['agent', 'inject', 'serve', 'up'];
if (SERVING.includes(process.argv[2])) beSmall();
// Not before: a signal that was caught and not dispatched yet would be lost with the program that it replaces.
if (['agent', 'inject', 'serve'].includes(process.argv[2])) expectSignals();

// Imported by name, a part of Node loads all that hangs on it; asked for like this, only itself.
const { enableCompileCache } = process.getBuiltinModule('node:module');
const fs = process.getBuiltinModule('node:fs');
const { homedir } = process.getBuiltinModule('node:os');
const { dirname, isAbsolute, join } = process.getBuiltinModule('node:path');

// Compiled code is kept: a command that only prints a kept token spends most of its time on loading.
// Where there is no folder that this user alone can write to, nothing is lost but time.
const compiled = prepareCompiledFolder();
if (compiled !== undefined) enableCompileCache(compiled);
// Threads of a process that serves compile what they load by themselves, unless the environment names the folder.
if (SERVING.includes(process.argv[2]) && compiled !== undefined)
  process.env.NODE_COMPILE_CACHE ??= compiled;

if (isCheckout) {
  if (!process.execArgv.includes(SOURCE_CONDITION)) await followSourceCondition();
  await import(source.href);
} else {
  await import('../dist/main.js');
}

/** The condition without the runtime's option, which can only be given when a process starts and is faster. */
async function followSourceCondition() {
  const { registerHooks } = await import('node:module');
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: ['source', ...context.conditions] }),
  });
}

/**
 * Keeps signals from doing what they do to a process that expects none. Until it serves, one that asks to
 * reload or to roll is not needed, since everything is just being read; one that asks to end does so at once.
 * SIGUSR1, with which others have their logs reopened, would open a debugger to every user of the machine.
 */
function expectSignals() {
  for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2']) process.on(signal, () => {});
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.on(signal, () => {
      // A worker ends when its primary says so.
      if (process.send === undefined) process.exit(0);
    });
}

/**
 * Becomes a process that stays small while it serves, under the same process id. What serves makes
 * short-lived objects: a young generation and memory arenas that grow with the load take tens of megabytes
 * and save no time. A runtime that may take four gigabytes lets its memory grow to
 * several times what it needs before it looks for what is gone; what serves needs some fifty megabytes, and
 * a process that wants a gigabyte is broken. All of that can only be said when a process starts. Does
 * nothing where the command line or the environment says it already, as the systemd unit does, in a worker (its
 * primary has passed it on), or where it cannot be done.
 */
function beSmall() {
  const { execArgv, env } = process;
  const said = `${execArgv.join(' ')} ${env.NODE_OPTIONS ?? ''}`.replaceAll('_', '-');
  const isSmall = said.includes('semi-space-size');
  // A channel to the process that started this one would not survive.
  if (
    (isSmall && process.argv[2] !== 'inject') ||
    process.send !== undefined ||
    process.platform === 'win32'
  )
    return;
  const { options, environment, inject } = readRuntimeOptions();
  // The image says what suits `serve`; the webhook stays within the chart's limit for it, which is far lower.
  const isHeapChosen = said
    .split(' ')
    .some((option) => /old-space-size|max-heap-size/.test(option) && !options.includes(option));
  const own = process.argv[2] === 'inject' && !isHeapChosen ? inject : [];
  if (isSmall && own.length === 0) return;
  // Where there is less memory, the runtime takes its share of that, which is the smaller one.
  const memory = Math.min(
    process.getBuiltinModule('node:os').totalmem(),
    process.constrainedMemory() || Number.POSITIVE_INFINITY,
  );
  const isHeapDecided = memory < 4 * GIGABYTE || /old-space-size|max-heap-size/.test(said);
  const small = isSmall
    ? []
    : options.filter((option) => !(isHeapDecided && option.includes('old-space-size')));
  if (isCheckout) small.push(SOURCE_CONDITION);
  // Of two limits the last one counts.
  const args = [...small, ...execArgv, ...own, ...process.argv.slice(1)];
  try {
    process.execve(process.execPath, [process.execPath, ...args], { ...environment, ...env });
  } catch {
    // Forbidden here, or not there: it only takes more memory.
  }
}

/** What is given to the runtime. The systemd unit and the image's entrypoint give it with the start; tests compare them. */
function readRuntimeOptions() {
  const file = new URL('runtime-options.json', import.meta.url);
  return JSON.parse(process.getBuiltinModule('node:fs').readFileSync(file, 'utf8'));
}

/** Not by the `recursive` of Node, which tries for ever in `/proc`. */
function makeFolder(path) {
  if (!fs.existsSync(path)) fs.mkdirSync(path, 0o700);
}

/**
 * Whether this user or root alone can exchange what a folder holds: by the folder itself, by a link in its place, and
 * by every folder above. One that others may write to has to be sticky, so that they cannot touch what is not theirs.
 */
function isKeptFromOthers(folder, user) {
  return [folder, fs.realpathSync(folder)].every((start) => {
    for (let path = start; ; path = dirname(path)) {
      const { mode, uid } = fs.statSync(path);
      if ((mode & 0o022) !== 0 && (mode & 0o1000) === 0) return false;
      // In a sticky folder the owner of a link can still exchange it.
      if ([uid, fs.lstatSync(path).uid].some((owner) => owner !== user && owner !== 0))
        return false;
      if (path === dirname(path)) return true;
    }
  });
}

/**
 * The folder for compiled code, made when it is not there, closed to others when it is open to read.
 * What stands in it is run without being compared with the source, so only this user may own it, and
 * only this user may exchange it: that holds for the folders around it too.
 *
 * @returns {string | undefined} `undefined` when it cannot be trusted or made.
 */
function prepareCompiledFolder() {
  try {
    const given = process.env.XDG_CACHE_HOME ?? '';
    const caches = isAbsolute(given) ? given : join(homedir(), '.cache');
    const own = join(caches, 'sallyport');
    const folder = join(own, 'compiled');
    for (const path of [caches, own, folder]) makeFolder(path);
    const user = process.getuid?.();
    // Windows has access lists instead of owners and modes; those of the profile's folder apply.
    if (user === undefined) return folder;
    if (!isKeptFromOthers(caches, user)) return undefined;
    for (const path of [own, folder]) {
      const stat = fs.lstatSync(path);
      if (!stat.isDirectory() || stat.uid !== user || (stat.mode & 0o022) !== 0) return undefined;
    }
    // What is made in it takes its rights from the umask.
    fs.chmodSync(folder, 0o700);
    return folder;
  } catch {
    return undefined;
  }
}
