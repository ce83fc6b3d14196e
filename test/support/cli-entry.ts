import { fileURLToPath } from 'node:url';

/**
 * The command line that tests run as a process. `npm test` builds first and tests what was built, which starts faster and is
 * what users get; vitest alone tests the sources.
 */
export const CLI_ENTRY = fileURLToPath(
  new URL(process.env['SQUAD_TEST_BUILT'] === '1' ? '../../dist/cli.mjs' : '../../src/cli/main.ts', import.meta.url),
);
