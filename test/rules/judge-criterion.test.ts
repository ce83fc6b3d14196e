import { found, quoting } from '../support/findings.ts';
import { describe, expect, it } from 'vitest';
import { acceptEvent } from '../../src/rules/accept-event.ts';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { createBoard } from '../../src/rules/board.ts';
import { concludeRun, criteriaOf } from '../../src/rules/conclude.ts';
import { verdictsAt } from '../../src/rules/gate.ts';
import { applyWork } from '../../src/rules/plan-step.ts';
import type { Board } from '../../src/model/plan/board.ts';
import type { PlanChange } from '../../src/model/plan/change.ts';
import type { Verdict } from '../../src/model/plan/gate.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import { factsOf, member } from '../playbooks/simulator.ts';
import { newTask } from './support.ts';

const AT = { seq: 7, at: 1_000 };
const ROSTER = [member('pam', 'pm'), member('bob', 'builder'), member('rex', 'reviewer')];
const CHECKED = { text: 'it passes', command: 'npm test' };
const NICE = { text: 'it is nice' };
const QUICK = { text: 'it is quick' };
const MET: Verdict = { criterion: 1, met: true, evidence: quoting('src/a.ts', 'it is there', 3), why: 'it is there' };
const MISSED: Verdict = { criterion: 1, met: false, evidence: null, why: 'it is missing' };

const WROTE = ['pam', 'bob'];

/** Pam and Bob wrote what was delivered as c1; the tasks `post-pm` and `post-reviewer` have read it. */
function reviewed(criteria: Board['facts']['objective']['criteria'] = [CHECKED, NICE]): Board {
  const objective = { title: 'Try', goals: [], criteria, constraints: [], context: '', text: '' };
  const reading: Partial<NewTask> = { workspace: { read: 'run' }, requires: [], integrate: false };
  const tasks: PlanChange[] = [
    ...WROTE.map((by) => ({ do: 'add-task', task: newTask(`of-${by}`, { requires: [], integrate: false }) }) as const),
    { do: 'add-task', task: newTask('post-pm', { ...reading, role: 'pm' }) },
    { do: 'add-task', task: newTask('post-reviewer', { ...reading, role: 'reviewer' }) },
  ];
  let board = applyChanges(createBoard(factsOf(ROSTER, { objective })), tasks, AT).board;
  for (const by of WROTE) board = turn(board, `of-${by}`, by);
  board = { ...board, branch: { ...board.branch, head: 'c1' } };
  return turn(turn(board, 'post-pm', 'pam'), 'post-reviewer', 'rex');
}

function turn(board: Board, task: string, agent: string): Board {
  const attempt = `${task}-${board.tasks.get(task)?.work.attempts ?? 0}`;
  const on = { attempt, agent, account: agent, session: `s-${task}`, review: null };
  const live = applyWork(board, task, { type: 'attempt-started', ...on }, AT).board;
  return applyWork(live, task, { type: 'attempt-settled', attempt, outcome: 'completed', text: '' }, AT).board;
}

function judge(board: Board, task: string, ...verdicts: Verdict[]): Board {
  const changes = verdicts.map((verdict): PlanChange => ({ do: 'judge-criterion', task, ...verdict }));
  const step = applyChanges(board, changes, AT);
  expect(step.refused).toEqual([]);
  return step.board;
}

/** What the engine finds: the command passes, and all quotes are there but those of `gone.ts`. */
function check(board: Board): Board {
  const ended = applyChanges(board, [{ do: 'finish', outcome: 'done', why: 'all is there' }], AT).board;
  const { head } = board.branch;
  const said = verdictsAt(head, board.gate);
  const looked = found(said.map(({ by, verdict: { evidence } }) => ({ by: by ?? '', evidence })));
  const commands = [{ purpose: 'criterion' as const, run: 'npm test', passed: true, output: '' }];
  const facts = { expected: head, head, missing: [], commands, looked };
  return acceptEvent(ended, { ...AT, type: 'gate-checked', facts }).board;
}

describe('a verdict that a playbook recorded', () => {
  it('is shown as judged, with who, file, line and commit, and the engine asks no judge of its own', () => {
    const board = check(judge(reviewed(), 'post-reviewer', MET));
    expect(board.finished).toMatchObject({ outcome: 'done' });
    expect(criteriaOf(board)).toMatchObject([
      { state: 'met', by: 'engine' },
      { state: 'judged', by: 'rex', evidence: 'src/a.ts:3 at c1 has “it is there”: it is there' },
    ]);
    expect(concludeRun({ board, problem: undefined, strict: true })).toMatchObject({
      headline: 'DONE, 1 of 2 criteria judged by rex, not run',
      exitCode: 0,
    });
  });

  it('is not believed before the engine has looked for its file, unless it is “not met”', () => {
    expect(criteriaOf(judge(reviewed(), 'post-reviewer', MET))[1]).toMatchObject({ state: 'not-checked' });
    const failed = { state: 'failed', by: 'rex', evidence: 'it is missing' };
    expect(criteriaOf(judge(reviewed(), 'post-reviewer', MISSED))[1]).toMatchObject(failed);
  });

  it.each<[string, string, Verdict]>([
    ['names a file that does not exist', 'post-reviewer', { ...MET, evidence: quoting('gone.ts') }],
    ['names no evidence', 'post-reviewer', { ...MET, evidence: null }],
    ['is of an author of the work', 'post-pm', MET],
  ])('does not count if it is “met” and %s: the engine asks a judge', (_why, task, verdict) => {
    const board = check(judge(reviewed(), task, verdict));
    expect([board.finished, board.gate.at, criteriaOf(board)[1]?.state]).toEqual([null, 'judging', 'not-checked']);
  });

  it('leaves the engine’s judge only the rest', () => {
    const board = check(judge(reviewed([CHECKED, NICE, QUICK]), 'post-reviewer', MET));
    const text = board.tasks.get('judge')?.task.brief.text ?? '';
    expect(text).toContain('C3: it is quick');
    expect(text).not.toContain('it is nice');
  });

  it('is void once the run branch has moved on, also if it comes late', () => {
    const moved = (board: Board): Board => ({ ...board, branch: { ...board.branch, head: 'c2' } });
    for (const board of [
      moved(judge(reviewed(), 'post-reviewer', MET)),
      judge(moved(reviewed()), 'post-reviewer', MET),
    ]) {
      expect([check(board).gate.at, criteriaOf(check(board))[1]?.state]).toEqual(['judging', 'not-checked']);
    }
  });

  it('outlives more work that changes nothing', () => {
    const proposed = applyChanges(
      judge(reviewed(), 'post-reviewer', MET),
      [
        { do: 'finish', outcome: 'done', why: 'all is there' },
        { do: 'add-task', task: newTask('more', { workspace: { read: 'run' }, requires: [], integrate: false }) },
      ],
      AT,
    ).board;
    expect(check(turn(proposed, 'more', 'bob')).finished).toMatchObject({ outcome: 'done' });
  });

  it.each([
    ['post-pm', 'pam'],
    ['post-reviewer', 'rex'],
  ])('“not met” of %s keeps the run from its end', (task, by) => {
    const both = judge(judge(reviewed(), 'post-reviewer', MET), task, MISSED);
    const board = check(both);
    expect(board.finished).toBeNull();
    expect(criteriaOf(board)[1]).toMatchObject({ state: 'failed', by, evidence: 'it is missing' });
    expect(check(board).finished).toMatchObject({
      outcome: 'failed',
      why: `criterion “it is nice” is not met, says ${by}: it is missing`,
    });
  });

  it('is replaced by a later one of the same task', () => {
    const missed = judge(judge(reviewed(), 'post-pm', MISSED), 'post-reviewer', MISSED);
    const board = judge(judge(missed, 'post-pm', MET), 'post-reviewer', MET);
    expect(check(board).finished).toMatchObject({ outcome: 'done' });
  });

  it.each([
    ['on a criterion that a command decides on', { criterion: 0 }, 'a command decides on criterion 0'],
    ['on an unknown criterion', { criterion: 2 }, 'the objective has no criterion 2'],
    ['of an unknown task', { task: 'nope' }, 'there is no task nope'],
    ['of a task that wrote the work', { task: 'of-bob' }, 'of-bob does not read the run branch'],
    ['of a task that nobody has worked on', { task: 'new' }, 'no agent has worked on new'],
  ])('is refused %s', (_title, more, why) => {
    const task = newTask('new', { workspace: { read: 'run' }, requires: [], integrate: false });
    const board = applyChanges(reviewed(), [{ do: 'add-task', task }], AT).board;
    const change = { do: 'judge-criterion', task: 'post-reviewer', ...MET, ...more } as const;
    const step = applyChanges(board, [change], AT);
    expect([step.refused, step.board.gate.recorded]).toMatchObject([[{ why }], []]);
  });
});
