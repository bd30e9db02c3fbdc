import { defineConfig } from 'vitest/config';

const common = {
  setupFiles: ['test/setup.ts'],
  testTimeout: 60_000,
  hookTimeout: 120_000,
  execArgv: ['--disable-warning=ExperimentalWarning'],
};

export default defineConfig({
  test: {
    // Two cores run the engines and the tests; more files at once would only wait for each other.
    maxWorkers: 2,
    projects: [
      {
        test: {
          ...common,
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/faults/**'],
          globalSetup: ['test/system-parts.ts'],
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
