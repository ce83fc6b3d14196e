import { describe, expect, it } from 'vitest';
import { renderFrame } from '../../../src/cli/board/frame.ts';
import { levelOf } from '../../../src/cli/render/event-level.ts';
import { failureLines } from '../../../src/cli/render/failure-lines.ts';
import type { Board } from '../../../src/model/plan/board.ts';
import type { RunEvent } from '../../../src/model/run-event.ts';
import { openPointsOf } from '../../../src/rules/open-points.ts';
import { failuresOf } from '../../../src/view/explain-failure.ts';
import { boardEvents } from '../../../src/view/project-board.ts';
import { playSprint, rejectsFor } from '../../playbooks/sprint/support.ts';
import type { Json } from '../../../src/text/json.ts';
import * as says from '../../support/sprint-script.ts';
import { definition } from '../report/support.ts';
import { recordedRun, viewAfter } from '../../cli/board/recorded-run.ts';

// Longer than the id of its todo.
const ITEM = 'b-show-the-map-of-the-whole-town';
const TODO = ITEM.slice(0, 24);

const failuresIn = (board: Board) =>
  failuresOf(
    {
      definition: { ...definition(), name: 'try', playbook: 'sprint' },
      ...{ board, attempts: [], evidence: new Map(), workspace: undefined, playedBy: undefined },
    },
    [],
  );

function play(answers: Readonly<Record<string, readonly Json[]>>) {
  const todos = says.todos(says.todo(ITEM), says.todo('b-two'));
  const played = playSprint({ items: [ITEM, 'b-two'], answers: { todos: [todos], ...answers } });
  const boards = played.steps.map(({ board }) => board);
  const open = boards.find((board) => board.finished === null && failuresIn(board).length > 0);
  if (open === undefined) throw new Error('no todo was blocked before the end');
  const base = { at: 1, runId: 'r' };
  const events = boards.slice(1).flatMap((board, at) => boardEvents(base, boards[at] ?? board, board));
  const ended = events.filter((event) => event.type === 'task-changed' && event.status === 'blocked');
  return { ...played, open, events, ended };
}

const BY_PLANNER = { [TODO]: [says.planned(TODO, says.block('the key of the map'))] };

describe('a todo that waits for what a person has to bring', () => {
  it.each<[string, string, Readonly<Record<string, readonly Json[]>>]>([
    ['its planner', TODO, BY_PLANNER],
    ['QA', `${TODO}-build`, { [`${TODO}-build/qa`]: [rejectsFor('blocked', 'the key of the map')] }],
  ])('is blocked by %s: not failed, with what is needed and the command that brings it', (_, task, answers) => {
    const { board, open, ended } = play(answers);
    for (const one of [open, board]) {
      const failures = failuresIn(one);
      expect(failures).toMatchObject([{ task, as: 'blocked', cause: 'blocked', next: [`squad request '${ITEM}: …'`] }]);
      const lines = failureLines(failures).join('\n');
      expect(lines).toMatch(/^blocked {3}b-show/);
      expect(lines).toContain('required inputs: the key of the map');
      expect(lines).not.toMatch(/squad (?:retry|override)|^failed/m);
    }
    expect(ended).toMatchObject([{ task, status: 'blocked', item: ITEM }]);
    expect(ended.map((event) => levelOf(event))).toEqual(['warn']);
    expect(openPointsOf(board).join('; ')).toMatch(/(?:PLAN_TODO|BUILD) is blocked, and the run continued without it/);
    expect(board.finished?.why).toMatch(/is blocked in part: /);
  });

  it.each<[string, readonly RunEvent[]]>([
    ['while its sprint runs', []],
    [
      'once its sprint is over',
      [
        {
          ...{ type: 'run-ended', at: 1, runId: 'r', name: 'try', outcome: 'done', headline: 'DONE', why: '' },
          ...{ exitCode: 0, report: '', failures: [], rejections: [], questions: [], next: [] },
        },
      ],
    ],
  ])('stands first on the board %s, with that command', (_, more) => {
    const view = viewAfter([...recordedRun().slice(0, 1), ...play(BY_PLANNER).ended, ...more], 1_000);
    const text = renderFrame(view, { columns: 100, rows: 30, colour: false }).join('\n');
    expect(text).toContain(`■ ${TODO} is blocked: blocked by planner`);
    expect(text).toContain(`→ squad request '${ITEM}: …'`);
    expect(text).toMatch(/1 blocked/);
    expect(text).not.toContain('squad retry');
  });

  it('keeps the commands of a task where no team has a backlog', () => {
    const { open } = play(BY_PLANNER);
    const records = new Map([...open.records].filter(([where]) => where !== 'stage-answers'));
    expect(failuresIn({ ...open, records })).toMatchObject([
      { as: 'blocked', next: [`squad retry ${TODO} --run try`, expect.stringContaining('squad override')] },
    ]);
  });
});
