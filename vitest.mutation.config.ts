import { defineConfig } from 'vitest/config';
import { TAGS } from './test/support/lane.ts';

/** Vitest obeys it here too; its types know it as an option of the command line alone. */
const WANTED: object = { tagsFilter: [process.env['SQUAD_MUTATION_TAGS'] ?? '!all && !night'] };

/**
 * The test files of the one module that scripts/mutation.mjs breaks. Stryker's own list of test files is not used: with it,
 * a mutant of a constant never takes effect and is told as a survivor (stryker-js issue 6144).
 */
export default defineConfig({
  test: {
    globalSetup: 'test/support/templates.ts',
    setupFiles: 'test/support/one-seed.ts',
    include: (process.env['SQUAD_MUTATION_TESTS'] ?? 'none').split(','),
    tags: TAGS,
    ...WANTED,
    pool: 'forks',
    isolate: false,
    testTimeout: 60_000,
  },
});
