import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The app of the package's own test: it has its own runner and its own installation.
    exclude: ['test/package/**'],
    testTimeout: 30_000,
  },
});
