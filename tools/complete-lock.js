/**
 * Adds to package-lock.json the optional platform packages that npm left out.
 *
 * npm drops an optional package that the registry at hand does not carry, and `npm ci` then refuses
 * the lockfile it wrote itself (EUSAGE, "Missing: ... from lock file"). Run after every change of a
 * dependency: `npm run lock`.
 */

import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('../package-lock.json', import.meta.url);
const OS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const CPU = [
  'arm',
  'arm64',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'ppc64le',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
];

const lock = JSON.parse(readFileSync(FILE, 'utf8'));
let added = 0;
for (const [path, owner] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
    const known =
      lock.packages[`node_modules/${name}`] ?? lock.packages[`${path}/node_modules/${name}`];
    if (known !== undefined || !/^\d/.test(version)) continue;
    const words = name.split(/[-/]/);
    const os = OS.filter((word) => words.includes(word));
    const cpu = CPU.filter((word) => words.includes(word));
    lock.packages[`node_modules/${name}`] = {
      version,
      ...(owner.dev ? { dev: true } : {}),
      optional: true,
      ...(os.length > 0 ? { os } : {}),
      ...(cpu.length > 0 ? { cpu } : {}),
      ...(words.includes('musl')
        ? { libc: ['musl'] }
        : words.includes('gnu')
          ? { libc: ['glibc'] }
          : {}),
    };
    added += 1;
  }
}
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)),
);
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`package-lock.json: ${added} platform packages added`);
