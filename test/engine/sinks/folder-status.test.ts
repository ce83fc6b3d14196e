import { describe, expect, it } from 'vitest';
import { folderStatus } from '../../../src/engine/sinks/folder-sink.ts';
import { createBoard } from '../../../src/rules/board.ts';
import { factsOf } from '../../../src/rules/run-facts.ts';
import { newWork } from '../../../src/rules/work.ts';
import type { Board, Question } from '../../../src/model/plan/board.ts';
import type { NewTask } from '../../../src/model/plan/task.ts';
import { TaskTable } from '../../../src/model/plan/task-table.ts';
import type { Phase, RequestState } from '../../../src/model/plan/work.ts';
import type { RunState } from '../../../src/model/run-state.ts';
import { workTask } from '../../../src/playbooks/shared/tasks.ts';
import { definition } from '../../view/report/support.ts';

const LIVE: RequestState = {
  ...{ at: 'live', attempt: 'a-1', agent: 'bob', account: 'one', session: 's', stop: null, stall: null },
};
const LIMITED = new Map([['one', { until: 2_000, probe: null }]]);

function boardWith(more: Partial<Board> = {}, phase: Phase = { at: 'working' }, state?: RequestState): Board {
  const task = workTask({ id: 'a', title: 'A', role: 'builder', brief: 'Build it.' }, {});
  const { author, ...work } = newWork();
  const about = { ...work, phase, author: state === undefined ? author : { ...author, state } };
  const tasks = new TaskTable().with({ task, order: 0, depth: 0, at: { added: 0 }, work: about });
  return { ...createBoard(factsOf(definition())), now: 1_000, tasks, ...more };
}

/** `answers`: a message asked for the task. */
function failedWith(more: Partial<NewTask>, answers?: boolean): Board {
  const board = boardWith({}, ended('failed'));
  const order = { message: 'm-1', from: 'MAIN', by: 'bob', answers: answers === true };
  const [state] = board.tasks.values();
  if (state === undefined) throw new Error('no task');
  const tasks = board.tasks.with({ ...state, task: { ...state.task, ...more } });
  const records = answers === undefined ? board.records : new Map([['mail', new Map([['a', order]])]]);
  return { ...board, tasks, records };
}

function pause(scope: string, verb: 'pause' | 'drain' | 'stop'): Partial<Board> {
  return { pauses: new Map([[scope, { verb, by: 'ada', at: 1 }]]) };
}

function asked(answer: string | null): Partial<Board> {
  const question: Question = { id: 'q', text: 'Which?', options: [], blocks: ['a'], by: 'engine', answer };
  return { questions: new Map([['q', question]]) };
}

function ended(as: 'done' | 'failed' | 'cancelled' | 'skipped'): Phase {
  return { at: 'ended', as, cause: null, why: '' };
}

describe('the status in the folder of a run', () => {
  it.each<[name: string, board: Board, expected: string]>([
    ['an engine works on it', boardWith({}, undefined, LIVE), 'active'],
    ['it is paused', boardWith(pause('run', 'pause'), undefined, LIVE), 'paused'],
    ['it is drained', boardWith(pause('run', 'drain')), 'paused'],
    ['it is stopped', boardWith(pause('run', 'stop')), 'paused'],
    ['one agent is paused', boardWith(pause('agent/bob', 'pause')), 'active'],
    ['a question is open', boardWith(asked(null)), 'paused'],
    ['the question is answered', boardWith(asked('this')), 'active'],
    ['a task has failed', boardWith({}, ended('failed')), 'paused'],
    ['a task is done', boardWith({}, ended('done')), 'active'],
    ['a task was cancelled', boardWith({}, ended('cancelled')), 'active'],
    ['the run has failed', boardWith({ finished: { outcome: 'failed', why: '' } }), 'paused'],
    ['nothing is left to do', boardWith({ finished: { outcome: 'done', why: '' } }), 'active'],
    ['it waits for a usage limit', boardWith({ accounts: LIMITED }), 'paused'],
    ['the engine checks work meanwhile', boardWith({ accounts: LIMITED }, { at: 'gathering' }), 'active'],
    ['the limit is over', boardWith({ accounts: LIMITED, now: 2_000 }), 'active'],
    ['another agent works meanwhile', boardWith({ accounts: LIMITED }, undefined, LIVE), 'active'],
    ['the engine checks the whole meanwhile', boardWith({ accounts: LIMITED }, ended('done')), 'active'],
    ['a task of the engine has failed', failedWith({ owner: 'engine' }), 'active'],
    ['an answer by mail has failed', failedWith({}, true), 'active'],
    ['work by mail has failed', failedWith({}, false), 'paused'],
  ])('where %s', (_name, board, expected) => {
    expect(folderStatus(board, 'running')).toBe(expected);
  });

  it.each<[RunState, string]>([
    ['done', 'finished'],
    ['failed', 'paused'],
    ['waiting', 'paused'],
    ['stopped', 'paused'],
    ['interrupted', 'paused'],
  ])('after an end as %s is %s', (state, expected) => {
    expect(folderStatus(boardWith({}, undefined, LIVE), state)).toBe(expected);
  });
});
