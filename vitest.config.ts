import { defineConfig } from 'vitest/config';
import { LANE } from './test/support/lane.ts';

/** Touch no process, file or database, and leave nothing in memory: they share two threads. */
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
  'test/runtimes/{claude,codex}/{command,toml,translate,verdict,captures}.test.ts',
];
const shared = { testTimeout: 120_000, hookTimeout: 120_000, maxWorkers: 2 };

export default defineConfig({
  test: {
    tags: [
      { name: 'spread', description: 'makes a few trials in `npm test`, all of them in `npm run test:all`' },
      { name: 'all', description: 'runs in `npm run test:all` only' },
    ],
    outputFile: { json: `test-results/${LANE}.json` },
    maxWorkers: 2,
    projects: [
      { test: { ...shared, name: 'pure', include: PURE, pool: 'threads', isolate: false } },
      {
        test: {
          ...shared,
          name: 'processes',
          include: ['test/**/*.test.ts'],
          exclude: ['test/live-cli/**', 'test/chaos/**', ...PURE],
          pool: 'forks',
        },
      },
    ],
  },
});
