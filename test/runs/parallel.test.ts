import { describe, expect, it } from 'vitest';
import { openRunBench } from './run-bench.ts';
import { author, commits, piece, plan } from './run-script.ts';
import { ALL } from '../support/lane.ts';

const IDS = Array.from({ length: 12 }, (_, index) => `t-${index + 1}`);
const agent = (name: string, role: string) => ({ name, role, runtime: 'scripted' });

describe('twelve independent tasks, four at once', () => {
  it('never has more than four turns alive, and really has four', { ...ALL, timeout: 300_000 }, async (test) => {
    const bench = openRunBench({
      settings: { agents: [agent('planner', 'planner'), agent('builder', 'builder')] },
      script: [
        plan(IDS.map((id) => piece(id))),
        ...IDS.map((id) => author(id, [{ run: ['sleep', '0.7'] }, ...commits({ [`${id}.txt`]: id })])),
      ],
    });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll(['--parallel', '4']);
    expect(ended.code, ended.stderr).toBe(0);
    const ledger = bench.ledger();
    const events = ledger.events({ stream: String(ended.lines[0]?.['runId']) });
    ledger.close();
    let live = 0;
    const most: number[] = [];
    for (const { type, data } of events) {
      if (JSON.stringify(data).includes('"kind":"check"')) continue;
      if (type === 'attempt-claimed') live += 1;
      if (type === 'attempt-settled') live -= 1;
      most.push(live);
    }
    expect(Math.max(...most)).toBe(4);
    // By the clock as well: between the announcement of a session and the end of its turn its process is there.
    const at = (type: string) => ended.lines.filter((line) => line['type'] === type && line['kind'] !== 'check');
    const ends = new Map(at('attempt-ended').map((line) => [line['attemptId'], Number(line['at'])]));
    const spans = at('session-announced').map(({ attemptId, at: from }) => [Number(from), ends.get(attemptId) ?? 0]);
    const together = spans.map(([from = 0]) => spans.filter(([a = 0, b = 0]) => a <= from && from < b).length);
    expect(Math.max(...together)).toBeGreaterThanOrEqual(3);
    expect(Math.max(...together)).toBeLessThanOrEqual(4);
    for (const id of IDS) expect(bench.fileOnBranch(`${id}.txt`)).toBe(id);
  });
});
