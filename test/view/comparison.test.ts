import { expect, it } from 'vitest';
import { renderComparison } from '../../src/cli/render/comparison-table.ts';
import { PLAIN } from '../../src/cli/render/style.ts';
import { compareRuns, comparisonSchema, type ComparedRun, type Side } from '../../src/view/comparison.ts';
import { measureRun, type Measures } from '../../src/view/measured-run.ts';
import { ALL_FIXED, finding } from '../support/findings.ts';
import { plainJson, type Json } from '../../src/text/json.ts';
import { rejects, type Script } from '../playbooks/simulator.ts';
import { definition, planOf, play, RecordedRun } from './report/support.ts';
import { readHistory } from '../../src/view/read-run.ts';
import { viewOf } from '../../src/view/view-of.ts';

function measured(script: Script & { plan?: ReturnType<typeof planOf> }): Measures {
  const about = { ...definition(), verify: [{ run: 'sh check.sh', minutes: 1 }] };
  const { board, entries } = play(about, script);
  const run = new RecordedRun(about).allocate().plan(entries);
  return measureRun(viewOf(readHistory(run.ledger, run.id, null), { now: 0 }), board, entries);
}

/** Each of these tasks once in such a way. */
function once(task: string): (asked: string) => boolean {
  const tried = new Set<string>();
  return (asked) => asked === task && tried.size < tried.add(asked).size;
}

it('counts what sent work back, each finding once, and nothing that was not measured', () => {
  const plan = planOf('a', 'b', 'c', 'd');
  const isConflict = once('b');
  const isFailing = once('c');
  let rounds = 0;
  const found = measured({
    plan,
    conflict: (task) => (isConflict(task) ? ['shared.txt'] : undefined),
    verify: (task) => (isFailing(task) ? 'broken' : undefined),
    turn: ({ task, review }) => {
      if (review === null || task !== 'a') return undefined;
      rounds += 1;
      const say = (as: string) => ALL_FIXED.map((one) => ({ ...one, as: one.finding === 'F2' ? as : 'fixed' }));
      const answer = { approved: false, summary: 'no', findings: [], settled: [] };
      if (rounds === 1) return rejects('first', 'second');
      if (rounds === 2) return { output: { ...answer, settled: plainJson(say('not-fixed')) } };
      if (rounds === 3)
        return {
          output: { ...answer, findings: [plainJson(finding('third', { blocks: 'new-harm' }))], settled: withdrawn() },
        };
      return undefined;
    },
  });
  expect(found).toMatchObject({
    firstTry: { part: 1, of: 4 },
    held: { part: 2, of: 3 },
    withdrawn: { part: 1, of: 3 },
    conflicts: 1,
    failedChecks: 1,
    tokens: null,
    costUsd: null,
  });
});

function withdrawn(): Json {
  return [{ finding: 'F1', as: 'withdrawn', why: 'it is right' }];
}

const NONE: Measures = {
  ...{ firstTry: null, rounds: null, failedChecks: null, held: null, withdrawn: null },
  ...{ conflicts: null, tokens: null, costUsd: null, minutes: 1, criteria: null },
};

function runsOf(side: Side, all: readonly Partial<Measures>[], state: ComparedRun['state'] = 'done'): ComparedRun[] {
  return all.map((measures, index) => {
    const name = `x-${side.toLowerCase()}-${index + 1}`;
    const about = { side, runId: name, name, branch: `squad/${name}`, state, headline: 'DONE, verified' };
    return { ...about, measures: { ...NONE, ...measures } };
  });
}

function tableOf(runs: readonly ComparedRun[]): string {
  const sides = { A: { prompts: 'one', hash: 'a' }, B: { prompts: 'two', hash: 'b' } };
  const facts = { sides, base: 'c'.repeat(40), plan: null, times: 5, runs: [...runs], stopped: null };
  const found = comparisonSchema.parse(compareRuns(facts));
  return renderComparison(found, { columns: undefined, style: PLAIN }).join('\n');
}

it('never calls a difference of few runs a result', () => {
  const few = tableOf([...runsOf('A', [{ rounds: 1 }]), ...runsOf('B', [{ rounds: 9 }])]);
  expect(few).toContain('1 of A and 1 of B are over, and counted.\nThat is too few to call one better: take 5');
  expect(few).not.toContain('*');
  const five = (rounds: number): Partial<Measures>[] =>
    Array.from({ length: 5 }, (_, add) => ({ rounds: rounds + add }));
  const apart = tableOf([...runsOf('A', five(1)), ...runsOf('B', five(9))]);
  expect(apart).toMatch(/rounds of review \* +3 \(1 to 5\) +11 \(9 to 13\)\n/);
  expect(apart).toContain('* each run of one side is above each run of the other.');
  expect(tableOf([...runsOf('A', five(1)), ...runsOf('B', five(5))])).not.toContain('review *');
  // A run that is not over counts for nothing.
  const open = tableOf([...runsOf('A', five(1)), ...runsOf('B', five(9), 'interrupted')]);
  expect(open).toContain('5 of A and 0 of B are over');
  expect(open).toMatch(/rounds of review +3 \(1 to 5\) +not measured\n/);
});

it('says where something was not measured, and adds shares up', () => {
  const some = [{ firstTry: { part: 1, of: 3 }, tokens: 0 }, { firstTry: { part: 2, of: 2 } }];
  const table = tableOf([...runsOf('A', some), ...runsOf('B', [{}])]);
  expect(table).toMatch(/merged at the first try +3 of 5 +not measured\n/);
  expect(table).toMatch(/tokens +0, not measured in 1 run +not measured\n/);
  expect(table).toMatch(/criteria met +not measured +not measured\n/);
});
