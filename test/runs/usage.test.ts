import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { openRunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, type Entry } from './run-script.ts';
import { ALL } from '../support/lane.ts';

const NO_TERMINAL = process.platform === 'linux' ? undefined : 'script(1) takes other arguments here';

function costing(entry: Entry): Entry {
  return { ...entry, usage: { inputTokens: 10, outputTokens: 1, costUsd: 0.0037 } };
}

describe('what a run used', () => {
  it.skipIf(NO_TERMINAL !== undefined)(
    'is one count for the live line, status and report, also after a resume',
    { ...ALL, timeout: 300_000 },
    async ({ onTestFinished }) => {
      const pieces = [piece('a'), piece('b', { needs: ['a'] })];
      const slow = [{ run: ['sleep', '3'] }, ...commits({ 'b.txt': 'b\n' })];
      const bench = openRunBench({
        script: [
          costing(plan(pieces)),
          costing(author('a', commits({ 'a.txt': 'a\n' }))),
          costing(author('b', slow)),
          costing(APPROVE_ALL),
        ],
      });
      onTestFinished(() => bench.end());
      // The plan and the first turn of `a` are paid for.
      await bench.runAll([], { SQUAD_FAILPOINTS: 'attempt.settled:2=kill' });
      const resumed = execFileSync(
        'script',
        ['-qefc', `stty cols 120; ${process.execPath} ${CLI_ENTRY} resume`, '/dev/null'],
        {
          cwd: bench.repository,
          env: {
            PATH: process.env['PATH'],
            HOME: bench.root,
            XDG_STATE_HOME: `${bench.root}/state`,
            XDG_CONFIG_HOME: bench.root,
          },
          encoding: 'utf8',
        },
      );
      const status = await bench.status();
      // Plan, two authors, two reviewers.
      expect(status.turns).toMatchObject({ started: 5, settled: 5 });
      expect(status.usage.costUsd).toBeCloseTo(5 * 0.0037, 10);
      // While `b` is written, all but it and its review are paid for.
      expect(resumed).toMatch(/USD 0\.0111 of 20\.00 .* 2 of 3 tasks/);
      expect(await bench.report()).toMatch(/\| \*\*all\*\* .*\| 5 \| 5 \| 50 \| 0 \| 5 \| USD 0\.0185 \|/);
      expect((await bench.run(['status'])).stdout).toMatch(/5 turns · 50 tokens in, 5 out · USD 0\.0185\b/);
      expect(status.tasks.find(({ id }) => id === 'a')).toMatchObject({ attempts: 1 });
    },
  );
});
