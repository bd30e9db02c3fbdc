import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';

const common = {
  setupFiles: ['test/setup.ts'],
  testTimeout: 60_000,
  hookTimeout: 120_000,
  execArgv: ['--disable-warning=ExperimentalWarning'],
};

export default defineConfig({
  test: {
    // One more than there are cores: many tests wait, for a queue to show a message or a lease to end.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: [
      // What functions are made of keeps its clients for the life of a process: each file has one of its own.
      {
        test: {
          ...common,
          name: 'domains',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{bin,contract,docs,e2e,faults,lib,local,mutants,sdk}/**', 'test/*.test.ts'],
          globalSetup: ['test/system-parts.ts'],
        },
      },
      // The rest has nothing that lasts, and need not be loaded again for each file.
      {
        test: {
          ...common,
          name: 'engine',
          include: ['test/{bin,contract,docs,lib,local,mutants,sdk}/**/*.test.ts', 'test/*.test.ts'],
          globalSetup: ['test/system-parts.ts'],
          isolate: false,
        },
      },
      {
        test: {
          ...common,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/e2e/shared-platform.ts'],
        },
      },
      // Each starts platforms of its own, kills them and starts them again.
      {
        test: {
          ...common,
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          globalSetup: ['test/faults/shared-assembly.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
