import { defineConfig } from 'vitest/config';

/** Long repetitions of what `npm test` does a few times. */
export default defineConfig({
  test: { include: ['test/chaos/**/*.test.ts'], pool: 'forks', fileParallelism: false, testTimeout: 3_600_000 },
});
