import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { LongFilesFirst } from './tools/suite/long-files-first.ts';

/**
 * Most of a process's start is compiling what it loads: workers, and processes that inherit the environment, keep that
 * here. Node compares it with the source.
 */
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

const source = {
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
};

/** Some of their time is waiting: for sockets, disks and threads. */
const unitWorkers = Math.ceil(availableParallelism() * 1.5);

/** Most of the time of these is waiting: for processes, browsers, other programs. */
const waitingWorkers = Math.ceil(availableParallelism() * 2.5);

/** Of `expect.poll`, where a test says none: what is waited for takes longer than a second on a busy machine. */
const patience = { poll: { timeout: 20_000 } };

/** They start processes of their own; the other tests of the packages start none. */
const WITH_PROCESSES = ['packages/*/src/**/*.process.test.ts'];

/** Most of a sign-in is the wait for a disk. */
const inMemory = { STATE_IN_MEMORY: '/dev/shm' };

const leftFolders = 'tools/suite/left-folders.ts';

/** They start the command, some on the one port of its redirect URI. */
const globalSetup = [leftFolders, 'tools/suite/redirect-port.ts', 'tools/suite/built-command.ts'];

/** They measure what a process does under load: nothing else runs beside them. */
const UNDER_LOAD = [
  'conformance/operation/under-load.test.ts',
  'interop/load/steady.test.ts',
  'conformance/wire/steady-load.test.ts',
  // One part in a hundred may hold up Redis for more than 5 ms.
  'interop/redis/sessions-many.test.ts',
  // Processes that cannot read the revocation log within 700 ms answer 503.
  'interop/redis/sessions-storm.test.ts',
];

/** They install and start what is delivered: tarballs, the image, the charts on an API server, a Keycloak set up by the command. */
const DEPLOYMENT = ['package', 'image', 'cluster', 'keycloak', 'terraform'].map(
  (folder) => `interop/${folder}/**/*.test.ts`,
);

/** It measures what is delivered: nothing else runs beside it. */
const FOOTPRINT = ['interop/package/footprint.test.ts'];

const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ['default', './tools/suite/slowest-files.ts', './tools/suite/failures.ts'],
    sequence: { shuffle: { files: true, tests: false }, sequencer: LongFilesFirst },
    // One after the other (`groupOrder`): a worker is shared by the files of one project that follow each other.
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          expect: patience,
          globalSetup: [leftFolders],
          maxWorkers: unitWorkers,
          sequence: { groupOrder: 0 },
          include: ['packages/*/src/**/*.test.ts', 'tools/**/*.test.ts'],
          exclude: WITH_PROCESSES,
          testTimeout: 30_000,
          isolate: false,
          setupFiles: [
            'tools/suite/refuse-processes.ts',
            'tools/suite/detect-leaks.ts',
            'tools/suite/reuse-keys.ts',
          ],
        },
      },
      {
        ...source,
        test: {
          name: 'process',
          expect: patience,
          globalSetup: [leftFolders],
          maxWorkers: waitingWorkers,
          sequence: { groupOrder: 1 },
          include: WITH_PROCESSES,
          testTimeout: 30_000,
          hookTimeout: 30_000,
          isolate: false,
          setupFiles: ['tools/suite/detect-leaks.ts', 'tools/suite/reuse-keys.ts'],
        },
      },
      {
        ...source,
        test: {
          name: 'conformance',
          expect: patience,
          env: inMemory,
          globalSetup,
          maxWorkers: waitingWorkers,
          sequence: { groupOrder: 2 },
          include: ['conformance/**/*.test.ts'],
          exclude: UNDER_LOAD,
          isolate: false,
          setupFiles: ['tools/suite/detect-leaks.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        test: {
          name: 'interop',
          expect: patience,
          env: inMemory,
          globalSetup,
          maxWorkers: waitingWorkers,
          sequence: { groupOrder: 3 },
          include: ['interop/**/*.test.ts'],
          exclude: [...UNDER_LOAD, ...DEPLOYMENT],
          isolate: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...source,
        test: {
          name: 'load',
          expect: patience,
          globalSetup,
          include: UNDER_LOAD,
          testTimeout: 120_000,
          hookTimeout: 60_000,
          fileParallelism: false,
          sequence: { groupOrder: 4 },
        },
      },
      {
        ...source,
        test: {
          name: 'deployment',
          expect: patience,
          globalSetup: [
            ...globalSetup,
            'tools/suite/packed-packages.ts',
            'tools/suite/go-tools.ts',
            'tools/suite/api-server.ts',
            'tools/suite/shared-keycloak.ts',
          ],
          maxWorkers: waitingWorkers,
          sequence: { groupOrder: 5 },
          include: DEPLOYMENT,
          exclude: FOOTPRINT,
          isolate: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...source,
        test: {
          name: 'footprint',
          expect: patience,
          globalSetup: [leftFolders, 'tools/suite/packed-packages.ts'],
          sequence: { groupOrder: 6 },
          include: FOOTPRINT,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});

export default config;
