import { describe, expect, it } from 'vitest';
import { createBoard } from '../../../../src/rules/board.ts';
import { newWork } from '../../../../src/rules/work.ts';
import { TaskTable } from '../../../../src/model/plan/task-table.ts';
import type { RoundRecord } from '../../../../src/model/plan/round-record.ts';
import type { Work } from '../../../../src/model/plan/work.ts';
import { failureFiles } from '../../../../src/view/report/files/failure-files.ts';
import type { Json } from '../../../../src/text/json.ts';
import { newTask, REVIEWED } from '../../../rules/support.ts';
import { factsOf, member } from '../../../playbooks/simulator.ts';

const LIST: Json = {
  stages: [
    { id: 'SPEC', review: { id: 'SPEC_REVIEW', by: ['reviewer'] } },
    { id: 'POST_REVIEW', judges: { rounds: 2, else: { fix: 'SPEC' } } },
  ],
};
const REJECTED: Work['phase'] = { at: 'ended', as: 'failed', cause: 'rejected', why: 'rejected in round 2 of 3' };
const ROW = { title: 'Spec Review', state: 'failed', by: [], tasks: ['spec'], round: { taken: 2, cap: 3 } } as const;

function round(number: number, finding: string): RoundRecord {
  return {
    ...{ round: number, commit: String(number).repeat(40), approved: false, findings: [finding] },
    feedback: `reviewer (rex): rejected. Not yet.\n- ${finding}`,
    by: [{ role: 'reviewer', agent: 'rex', approved: false }],
  };
}

function boardOf(works: Readonly<Record<string, Partial<Work>>>, records: Record<string, Record<string, Json>> = {}) {
  const facts = factsOf([member('bob', 'builder')], { options: { list: LIST } });
  const tasks = Object.entries(works).map(([id, work], order) => {
    return { task: newTask(id, REVIEWED), order, depth: 0, at: { added: 0 }, work: { ...newWork(), ...work } };
  });
  return {
    ...createBoard(facts),
    tasks: tasks.reduce((all, one) => all.with(one), new TaskTable()),
    records: new Map(Object.entries(records).map(([name, values]) => [name, new Map(Object.entries(values))])),
  };
}

const RUN = { name: 'tidy', playbook: 'delivery' };
const PLACED = { 'stage-tasks': { spec: { stage: 'SPEC', pass: 1, as: 'work' } } };

describe('the file of a failed stage', () => {
  it('has every round: what was found, by whom, on which commit, whether it converged, and what to do next', () => {
    const work = { phase: REJECTED, rounds: [round(1, 'no title'), round(2, 'no title')] };
    const [file, ...others] = failureFiles(RUN, boardOf({ spec: work }, PLACED), [{ ...ROW, id: 'SPEC_REVIEW' }]);
    expect(others).toEqual([]);
    expect(file?.path).toBe('failures/SPEC_REVIEW.md');
    const { text = '' } = file ?? {};
    expect(text).toContain('# `SPEC_REVIEW` was not passed: Spec Review\n');
    expect(text).toContain('was rejected 2 times; at most 3 rounds were allowed.');
    expect(text.split('\n## ').map((part) => part.split('\n')[0])).toEqual([
      '# `SPEC_REVIEW` was not passed: Spec Review',
      'Round 1 of 3: rejected',
      'Round 2 of 3: rejected',
      'What to do next',
    ]);
    expect(text).toContain('By reviewer (rex): rejected, on commit `111111111111`.');
    expect(text.match(/Not converging: the same findings as in the round before\./g)).toHaveLength(1);
    expect(text.match(/^- no title$/gm)).toHaveLength(2);
    expect(text).toContain(
      'squad retry spec --run tidy\nsquad override spec done --run tidy --reason "I read it myself"',
    );
  });

  it('is called as the task in a run without stages', () => {
    const board = boardOf({ page: { phase: REJECTED, rounds: [round(1, 'x')] }, other: {} });
    expect(failureFiles(RUN, board, []).map(({ path }) => path)).toEqual(['failures/page.md']);
  });

  it('is one for all tasks of a stage, and says whose each round is', () => {
    const work = { phase: REJECTED, rounds: [round(1, 'x')] };
    const placed = { 'stage-tasks': { left: { stage: 'SPEC' }, right: { stage: 'SPEC' } } };
    const [file, ...others] = failureFiles(RUN, boardOf({ left: work, right: work }, placed), []);
    expect(others).toEqual([]);
    expect(file?.text.match(/^## .*$/gm)).toEqual([
      '## left, round 1 of 3: rejected',
      '## right, round 1 of 3: rejected',
      '## What to do next',
    ]);
  });

  it('has the verdicts of a stage that judges the whole, with suggestions', () => {
    const verdict = {
      ...{ stage: 'POST_REVIEW', pass: 2, round: 2, approved: false, summary: 'Not whole.', converging: false },
      by: [{ role: 'pm', agent: 'pam', approved: false }],
      findings: [{ file: 'a.ts', line: 3, problem: 'no expiry', suggestion: 'add one', by: 'pm' }],
    };
    const rounds = { 'stage-rounds': { 'P/1': { ...verdict, round: 1, converging: true }, 'P/2': verdict } };
    const [file] = failureFiles(RUN, boardOf({}, rounds), []);
    expect(file?.path).toBe('failures/POST_REVIEW.md');
    expect(file?.text).toContain('The delivered work was rejected 2 times');
    expect(file?.text).toContain('By pm (pam): rejected.');
    expect(file?.text).toContain('a.ts:3: no expiry (suggestion: add one)');
    expect(file?.text.match(/Not converging/g)).toHaveLength(1);
    expect(file?.text).toContain('squad status tidy');
    expect(file?.text).not.toContain('squad merge');
  });

  it.each([
    ['delivered', { at: 'ended', as: 'done', cause: null, why: '' }],
    ['failed for another reason', { at: 'ended', as: 'failed', cause: 'attempts', why: '' }],
    ['tried again', { at: 'working' }],
  ] as const)('is none for work that is %s', (_title, phase) => {
    expect(failureFiles(RUN, boardOf({ spec: { phase, rounds: [round(1, 'x')] } }, PLACED), [])).toEqual([]);
  });

  it('of a sprint names no command that opens its run again, or merges it past the line', () => {
    const work = { phase: REJECTED, rounds: [round(1, 'no title')] };
    const board = { ...boardOf({ spec: work }, PLACED), finished: { outcome: 'done' as const, why: '', at: 1 } };
    const [file] = failureFiles({ ...RUN, playbook: 'sprint' }, board, []);
    expect(file?.text.match(/^squad .*$/gm)).toEqual(['squad status tidy', 'squad backlog']);
  });

  it('S13: what reviewers say is quoted, bounded and seen', () => {
    const hostile = `\`\`\`\n# Fake\n\u001b[2J\u202e${'x'.repeat(100_000)}`;
    const [file] = failureFiles(RUN, boardOf({ spec: { phase: REJECTED, rounds: [round(1, hostile)] } }, PLACED), []);
    expect(file?.text.length).toBeLessThan(25_000);
    expect(file?.text).toContain('more characters)');
    expect(file?.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(file?.text).toMatch(/^````text$/m);
  });
});
