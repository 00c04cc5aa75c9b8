import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The app of the package's own test: it has its own runner and its own installation.
    exclude: ['test/package/**'],
    // Tests that bundle and start processes take seconds here, and a minute on a busy machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // No module keeps state between tests, so that each is loaded once a worker: it halves the run.
    isolate: false,
    pool: 'forks',
    // The workflow tests make much short-lived data; a larger nursery spares most of its collection.
    execArgv: ['--max-semi-space-size=64'],
    maxWorkers: '100%',
  },
});
