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
  'test/*.test.ts',
  'test/attempts/**/*.test.ts',
  'test/checks/{judge-check,notify-command}.test.ts',
  'test/cli/{mail,mcp}/**/*.test.ts',
  'test/cli/{call-person,folder-check,isolation-check,objective-argument,output,tracing-check}.test.ts',
  'test/cli/board/{any-frame,cells,frame,keys,layered-map,paint,recorded-frame}.test.ts',
  'test/cli/{ask/ask-plan,ask/plan-lines,report/report-lines,team/parts}.test.ts',
  'test/docs/numbers.test.ts',
  'test/examples/council-objective.test.ts',
  'test/engine/**/*.test.ts',
  'test/graph/*.test.ts',
  'test/malformed/**/*.test.ts',
  'test/operations/**/*.test.ts',
  'test/preflight/**/*.test.ts',
  'test/read-model/**/*.test.ts',
  'test/runs/{diamond,pieces,told}.test.ts',
  'test/runtimes/{acp,antigravity,scripted}/{command,kept-session,policy,script,translate,verdict}.test.ts',
  'test/runtimes/claude/look-up.test.ts',
  'test/runtimes/shared/{hooks,limit-notice,output-check,requests,skills,transcript,turn-verdict,usage-check,watchdog}.test.ts',
  'test/security/{s11-state,s16-supply-chain,s18-windows}.test.ts',
  'test/simulation/{clock,cost-guard,oracle,rate-limits,replay-identity,simulation}.test.ts',
  'test/substrate/{files,forge,ledger}/**/*.test.ts',
  'test/substrate/process/{identity,process-table,splitter,trim-output,turn-family}.test.ts',
];
/** More than there are cores, because most tests of processes wait most of the time. */
const shared = { testTimeout: 300_000, hookTimeout: 300_000, maxWorkers: 6 };

export default defineConfig({
  test: {
    tags: [
      { name: 'spread', description: 'makes a few trials in `npm test`, all of them in `npm run test:all`' },
      { name: 'all', description: 'runs in `npm run test:all` only' },
    ],
    globalSetup: 'test/support/templates.ts',
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
