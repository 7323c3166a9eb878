/**
 * The root file system under the image: the libraries that Node is linked with, and no program.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT } from '../build/layout.ts';
import type { Platform } from './platform.ts';

/** What Node's binary is linked with. It holds certificates and time zones itself. */
const PACKAGES: readonly string[] = ['base-files', 'libatomic1', 'libc6', 'libstdc++6'];

/** What is taken of the packages; the last pattern that fits decides, and `*` stands for slashes too. */
const KEPT: readonly string[] = [
  '--path-exclude=/*',
  ...['/dev', '/etc', '/proc', '/run', '/sys', '/tmp', '/usr', '/var'].map(include),
  // Links to folders below /usr, where the distribution has them.
  ...['/lib*', '/usr/lib*'].map(include),
  '--path-exclude=/usr/lib/*/gconv*',
  ...['passwd', 'group', 'nsswitch.conf', 'os-release', 'debian_version'].map((name) =>
    include(`/etc/${name}`),
  ),
  ...['/usr/share/common-licenses*', '/usr/share/doc/*/copyright'].map(include),
  include('/var/lib/dpkg/status.d*'),
  // Packages that others depend on for their scripts.
  ...['/usr/share/doc/mawk*', '/var/lib/dpkg/status.d/mawk'].map(
    (path) => `--path-exclude=${path}`,
  ),
];

/** Where apt has the sources of the distribution: the first that exists. */
const SOURCES: readonly string[] = [
  '/etc/apt/sources.list.d/debian.sources',
  '/etc/apt/sources.list.d/ubuntu.sources',
  '/etc/apt/sources.list',
];
/** Settings of apt that decide whether this machine reaches its sources. */
const NETWORK_SETTING = /^Acquire::(?:Check-|Max-|https?::|Retries)/;
const FINISH = join(CHECKOUT, 'tools/image/finish-root.sh');
const ARCHIVE_MAX_BYTES = 2 ** 28;

/**
 * Makes it from the machine's own apt sources and settings, as a tar archive.
 *
 * mmdebstrap verifies and unpacks the packages. No script of theirs runs, so the machine needs not be of the same
 * architecture. Equal versions of the packages make equal bytes.
 *
 * @param file - Where the archive is written.
 * @param epoch - Seconds: the latest time that a file in it has.
 * @throws When mmdebstrap fails; its messages are on stderr.
 */
export function makeRootFilesystem(file: string, { debian }: Platform, epoch: number): void {
  const sources = SOURCES.find((path) => existsSync(path));
  if (sources === undefined) throw new Error(`apt has no sources in ${SOURCES.join(', ')}`);
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-root-'));
  try {
    const settings = join(folder, 'apt.conf');
    const all = execFileSync('apt-config', ['dump', 'Acquire'], { encoding: 'utf8' }).split('\n');
    writeFileSync(settings, `${all.filter((line) => NETWORK_SETTING.test(line)).join('\n')}\n`);
    const unpacked = execFileSync(
      'mmdebstrap',
      [
        '--quiet',
        '--mode=chrootless',
        '--variant=extract',
        `--architectures=${debian}`,
        `--include=${PACKAGES.join(',')}`,
        `--aptopt=${settings}`,
        `--extract-hook=${FINISH}`,
        readSuite(),
        '-',
        sources,
      ],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        maxBuffer: ARCHIVE_MAX_BYTES,
        env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
      },
    );
    const kept = execFileSync('mmtarfilter', KEPT, {
      input: unpacked,
      maxBuffer: ARCHIVE_MAX_BYTES,
    });
    writeFileSync(file, kept);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function include(path: string): string {
  return `--path-include=${path}`;
}

function readSuite(): string {
  const suite = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  if (suite === undefined) throw new Error('/etc/os-release names no VERSION_CODENAME');
  return suite;
}
