// @module-tag all
import { describe, expect, it } from 'vitest';
import { statusOf, turnsOf } from '../runs/run-bench.ts';
import type { ChaosEntry } from '../support/chaos-agent.ts';
import { git } from '../support/git.ts';
import { APPROVED, openChaosRun, planned } from './chaos-run.ts';
import { ALL } from '../support/lane.ts';

const LIMIT = 'Individual quota reached. Please upgrade your subscription to increase your limits. Resets in 2s.';

/** In the first turn of a task and in each later one. Prompts name the tasks of others, too. */
const turnsFor = (task: string, turn: Omit<ChaosEntry, 'when'>): ChaosEntry[] =>
  [`# Task ${task}:`, `task ${task} `].map((when) => ({ ...turn, when }));

describe('T14 a liar never delivers', { timeout: 240_000 }, () => {
  it('claims without work, prose, nothing at all, half a result: each fails, and only what is true is on the branch', async () => {
    const liars = ['empty-answer', 'says-nothing', 'leaves-without-result', 'prose', 'half-result'];
    const entries: ChaosEntry[] = [
      planned(['honest', 'no-diff', 'wrong-task', ...liars]),
      // A correction, which all of them answer with the same lie.
      { when: '# Task honest:', mode: 'honest', files: { 'honest.txt': 'true\n' } },
      ...turnsFor('no-diff', { mode: 'honest', text: 'All of it is implemented, and the tests pass.' }),
      ...turnsFor('wrong-task', { mode: 'honest', text: 'Task honest is done, and so is task no-diff.' }),
      ...liars.flatMap((mode) => turnsFor(mode, { mode })),
      APPROVED,
    ];
    const chaos = openChaosRun(
      entries.toSorted((one, other) => Number(other === APPROVED) - Number(one === APPROVED)),
      {
        builders: ['claude', 'codex', 'claude', 'codex'],
        settings: { limits: { parallel: 4, retries: 0 } },
      },
    );
    try {
      const ended = await chaos.start().finished;
      expect(ended.code, ended.stderr).toBe(1);
      const status = await chaos.bench.status();
      expect(statusOf(status, 'honest')).toBe('done');
      for (const id of ['no-diff', 'wrong-task', ...liars]) expect([id, statusOf(status, id)]).toEqual([id, 'failed']);
      for (const id of liars) expect([id, turnsOf(ended, id)[0]?.['outcome']]).toEqual([id, 'failed']);
      const { repository } = chaos.bench;
      expect(git(repository, 'diff', '--name-only', 'main', 'squad/make-things')).toBe('honest.txt');
    } finally {
      chaos.end();
    }
  });

  it('a limit as a result: the run waits for it and burns nothing, and goes on when it is over', ALL, async () => {
    const lie = { when: '# Task a:', mode: 'limit-as-result', limit: LIMIT };
    const chaos = openChaosRun([planned(['a']), lie, APPROVED], {
      builders: ['claude'],
      settings: { limits: { retries: 0 } },
    });
    try {
      const engine = chaos.start();
      await engine.line((line) => line['type'] === 'attempt-ended' && line['task'] === 'a');
      chaos.agent.plan({ turns: [APPROVED, { mode: 'honest', files: { 'a.txt': 'a\n' } }] });
      const ended = await engine.finished;
      expect(ended.code, ended.stderr).toBe(0);
      expect(turnsOf(ended, 'a').slice(0, 2)).toMatchObject([
        { outcome: 'failed', failure: { kind: 'quota-exhausted' } },
        { outcome: 'completed' },
      ]);
      expect(chaos.bench.fileOnBranch('a.txt')).toBe('a');
    } finally {
      chaos.end();
    }
  });
});
