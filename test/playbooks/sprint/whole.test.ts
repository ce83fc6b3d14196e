import { describe, expect, it } from 'vitest';
import { KINDS } from '../../../src/model/sprint/kinds.ts';
import { createView } from '../../../src/rules/view.ts';
import { backlog, block, planned, reprioritise, write } from '../../support/sprint-script.ts';
import { playSprint, progressIn, recordsIn, todoStates, turnsOf, WITH_COMMITTER } from './support.ts';

describe('a whole sprint', () => {
  it('plans first, then builds each todo, and reports', () => {
    const played = playSprint();
    expect(played.board.finished).toMatchObject({ outcome: 'done', why: 'Logins work' });
    const turns = turnsOf(played);
    expect(turns.slice(0, 6)).toEqual(['research', 'milestone', 'artifact-sync', 'backlog', 'priorities', 'todos']);
    expect(turns.filter((one) => one.startsWith('b-one'))).toEqual([
      ...['b-one', 'b-one-guide', 'b-one-build', 'b-one-build/architect', 'b-one-build/qa'],
    ]);
    const agents = played.turns.flatMap(({ task, agent, review }) =>
      task.startsWith('b-two') ? [] : [`${agent}: ${task}${review === null ? '' : ` reviewed by ${review}`}`],
    );
    expect(agents).toEqual([
      'research: research',
      ...['milestone', 'artifact-sync', 'backlog', 'priorities', 'todos', 'b-one'].map((task) => `planner: ${task}`),
      'architect: b-one-guide',
      expect.stringMatching(/^dev-[12]: b-one-build$/),
      'architect: b-one-build reviewed by architect',
      'qa: b-one-build reviewed by qa',
      'planner: report',
    ]);
    expect(turns.at(-1)).toBe('report');
    expect(todoStates(played)).toEqual(['b-one committed', 'b-two committed']);
    expect(progressIn(played)).toMatchObject({
      state: 'completed',
      title: 'People can log in',
      phase: 'sprint_report',
    });
    const records = recordsIn(played.playbook, played.board);
    expect(records.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
      ...[`${KINDS.item} b-one`, `${KINDS.item} b-two`, `${KINDS.itemState} b-one`, `${KINDS.itemState} b-two`],
      `${KINDS.progress} 261128-Sprint-09:00`,
    ]);
  });

  it('has the version controller commit what developers leave', () => {
    const played = playSprint({ roster: WITH_COMMITTER });
    expect(played.board.finished?.outcome).toBe('done');
    for (const id of ['b-one', 'b-two']) {
      const chain = turnsOf(played).filter((one) => one.startsWith(id));
      expect(chain.slice(-3)).toEqual([`${id}-build/architect`, `${id}-build/qa`, `${id}-commit`]);
    }
    expect(todoStates(played)).toEqual(['b-one committed', 'b-two committed']);
  });
});

describe('the records of a sprint', () => {
  it('change only when something did, and are equal when they are read again', () => {
    const { playbook, steps } = playSprint({ roster: WITH_COMMITTER });
    let before = '';
    let changes = 0;
    for (const { board } of steps) {
      const now = JSON.stringify(recordsIn(playbook, board));
      expect(JSON.stringify(recordsIn(playbook, { ...board, now: board.now + 60_000 }))).toBe(now);
      if (now !== before) changes += 1;
      before = now;
    }
    // Two todos, each with a few states, and the phases of the planning.
    expect(changes).toBeLessThan(40);
  });

  it('keep what research found and what the planner reports, apart from what it asked for', () => {
    const { research, report, routing = [] } = progressIn(playSprint());
    expect(research).toMatchObject({ subject: 'how logins work', hints: ['begin with the form'] });
    expect(JSON.stringify(research)).not.toContain('workflow_transition');
    expect(report).toMatchObject({ headline: 'Logins work', changes: [{ before: 'none', after: 'a form' }] });
    expect(routing.map(({ step, role }) => `${step} ${role}`)).toContain('qa_validation qa');
  });

  it('have a receipt for each write of the backlog, by the answer that made it', () => {
    const writes = [write('b-one'), write('b-two')];
    const later = reprioritise('b-two', 1, 80);
    const { board } = playSprint({ answers: { backlog: [backlog(...writes)], priorities: [backlog(later)] } });
    const receipts = createView(board).records('sprint-receipts');
    expect(receipts.map(({ id, value }) => [id, value])).toEqual([
      [
        'backlog/1',
        [
          { op: 'add', id: 'b-one', version: 1 },
          { op: 'add', id: 'b-two', version: 1 },
        ],
      ],
      ['priorities/1', [{ op: 'reprioritise', id: 'b-two', version: 2 }]],
    ]);
  });

  it('say of each todo what its planner noted', () => {
    expect(progressIn(playSprint()).todos[0]).toMatchObject({
      ...{ spec_changes: ['b-one is in the spec'], iteration_note: 'b-one is small' },
    });
  });
});

it('the planner that reports reads what became of each todo', () => {
  const played = playSprint({ answers: { 'b-one': [planned('b-one', block('a price'))] } });
  const view = createView(played.board);
  const report = view.task('report');
  const background = report === undefined ? '' : (played.playbook.background?.(view, report) ?? '');
  expect(background).toContain(
    '- b-one (b-one): Make b-one: blocked\n  why: because it is so\n  it waits for: a price',
  );
  expect(background).toMatch(/- b-two \(b-two\): Make b-two: committed, commit \S+/);
});
