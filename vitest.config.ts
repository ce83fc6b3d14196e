import { defineConfig } from 'vitest/config';
import { LANE } from './test/support/lane.ts';

/** Start no process, open no file and no database, and change nothing in memory that others see. */
const PURE = [
  'test/graph/decisions/**/*.test.ts',
  'test/graph/prompts/**/*.test.ts',
  'test/model/**/*.test.ts',
  'test/objective/**/*.test.ts',
  'test/playbooks/**/*.test.ts',
  'test/report/**/*.test.ts',
  'test/settings/**/*.test.ts',
  'test/text/**/*.test.ts',
  'test/cli/render/**/*.test.ts',
  'test/runtimes/{claude,codex}/{command,translate,verdict,captures}.test.ts',
];
/** Use files, databases and child processes, and leave nothing in the process that they run in. */
const TIDY = [
  'test/attempts/**/*.test.ts',
  'test/cli/{mail,mcp}/**/*.test.ts',
  'test/engine/**/*.test.ts',
  'test/graph/*.test.ts',
  'test/malformed/**/*.test.ts',
  'test/operations/**/*.test.ts',
  'test/preflight/**/*.test.ts',
  'test/read-model/**/*.test.ts',
  'test/substrate/{files,forge,ledger}/**/*.test.ts',
];
/** More than two, because most tests of processes wait most of the time. */
const shared = { testTimeout: 300_000, hookTimeout: 300_000, maxWorkers: 4 };

export default defineConfig({
  test: {
    tags: [
      { name: 'spread', description: 'makes a few trials in `npm test`, all of them in `npm run test:all`' },
      { name: 'all', description: 'runs in `npm run test:all` only' },
    ],
    outputFile: { json: `test-results/${LANE}.json` },
    maxWorkers: shared.maxWorkers,
    projects: [
      { test: { ...shared, name: 'pure', include: PURE, pool: 'threads', isolate: false } },
      { test: { ...shared, name: 'tidy', include: TIDY, pool: 'forks', isolate: false } },
      {
        test: {
          ...shared,
          name: 'processes',
          include: ['test/**/*.test.ts'],
          exclude: ['test/live-cli/**', 'test/chaos/**', ...PURE, ...TIDY],
          pool: 'forks',
        },
      },
    ],
  },
});
