import { defineConfig, type ViteUserConfig } from 'vitest/config';

const source = {
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
};

/** They start processes of their own; the other tests of the packages start none. */
const WITH_PROCESSES = ['packages/*/src/**/*.process.test.ts'];

/** They measure what a process does under load: nothing else runs beside them. */
const UNDER_LOAD = [
  'conformance/operation/{rolling-restart,reload,key-rotation,stopping}.test.ts',
  'interop/load/**/*.test.ts',
];

const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ['default', './tools/suite/slowest-files.ts'],
    sequence: { shuffle: { files: true, tests: false } },
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'tools/**/*.test.ts'],
          exclude: WITH_PROCESSES,
          testTimeout: 30_000,
          isolate: false,
          setupFiles: ['tools/suite/refuse-processes.ts', 'tools/suite/detect-leaks.ts'],
        },
      },
      {
        ...source,
        test: {
          name: 'process',
          include: WITH_PROCESSES,
          testTimeout: 30_000,
          isolate: false,
          setupFiles: ['tools/suite/detect-leaks.ts'],
        },
      },
      {
        ...source,
        test: {
          name: 'conformance',
          include: ['conformance/**/*.test.ts'],
          exclude: UNDER_LOAD,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        test: {
          name: 'interop',
          include: ['interop/**/*.test.ts'],
          exclude: UNDER_LOAD,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...source,
        test: {
          name: 'load',
          include: UNDER_LOAD,
          testTimeout: 120_000,
          hookTimeout: 60_000,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

export default config;
