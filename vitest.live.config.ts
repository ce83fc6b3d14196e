import { defineConfig } from 'vitest/config';

/** Real agent CLIs; started by scripts/live-cli.mjs. One file at a time: each CLI process takes 150–450 MB. */
export default defineConfig({
  test: {
    include: ['test/live-cli/**/*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
