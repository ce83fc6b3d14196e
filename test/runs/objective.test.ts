import { describe, expect, it } from 'vitest';
import { openRunBench, turnsOf } from './run-bench.ts';
import { DOCUMENTS, documentText } from '../support/objective-documents.ts';
import { pathOf, thirteen } from './objective-script.ts';
import { objective } from './run-script.ts';

describe('objective on the real engine', { timeout: 300_000 }, () => {
  it('leads through its stages without a person, and nobody reviews their own work', async (test) => {
    const bench = openRunBench({
      settings: { playbook: 'objective' },
      script: thirteen(
        [],
        [
          { id: 'left', paths: ['left.txt'] },
          { id: 'right', paths: ['right.txt'] },
        ],
      ),
      objective: objective({ criteria: ['both are there (run: `test -f left.txt && test -f right.txt`)'] }),
    });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
    const status = await bench.status();
    expect([status.playbook, status.outcome]).toEqual(['objective', 'done']);
    expect(status.tasks.filter((task) => task.status !== 'done')).toEqual([]);
    for (const task of Object.keys(DOCUMENTS)) {
      if (task !== 'test') expect(bench.fileOnBranch(pathOf(task))).toBe(documentText(task).trim());
    }
    expect(bench.fileOnBranch('right.txt')).toBe('right');
    const agents = (task: string) => turnsOf(ended, task).map(({ agent }) => String(agent));
    expect(['setup', 'business-problem', 'complete'].map(agents)).toEqual([['pm'], ['ba'], ['pm']]);
    expect(agents('spec').toSorted()).toEqual(['ba', 'pm', 'reviewer']);
    expect(agents('spec-writer')).toEqual(['writer']);
    expect(agents('plan')).toEqual(['pm', 'reviewer']);
    expect([...agents('left'), ...agents('right')].toSorted()).toEqual([
      'builder-1',
      'builder-2',
      'reviewer',
      'reviewer',
    ]);
    expect([...agents('post-review'), ...agents('post-review-reviewer')]).toEqual(['pm', 'reviewer']);
  });
});
