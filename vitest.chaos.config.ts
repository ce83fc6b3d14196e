import { defineConfig } from 'vitest/config';

/** Long repetitions of what `npm test` does a few times; started by scripts/chaos.mjs. A release takes half a day. */
export default defineConfig({
  test: {
    globalSetup: 'test/support/machine.ts',
    setupFiles: process.env['SQUAD_PROCESSES'] === 'ps' ? ['test/support/by-ps.ts'] : [],
    include: ['test/chaos/**/*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 43_200_000,
  },
});
