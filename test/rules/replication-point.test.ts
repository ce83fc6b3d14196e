import { expect, it } from 'vitest';
import type { LedgerEvent } from '../../src/model/ledger-event.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { Work } from '../../src/model/plan/work.ts';
import { unkeptTurns } from '../../src/rules/replication-point.ts';
import { plainJson, type Json } from '../../src/text/json.ts';
import { boardWith, FACTS, liveRequest, stateOf } from './support.ts';

function event(type: string, data: Json, cause: number | null = null): LedgerEvent {
  return { seq: 9, stream: 'run', type, at: 1, cause, epoch: 1, data };
}

function settled(attempt: string, kind = 'turn'): LedgerEvent {
  const [task = ''] = attempt.split('-');
  return event('attempt-settled', { attemptId: `r.012345.${attempt}`, taskId: task, kind, outcome: 'completed' });
}

function observed(task: string, type: string): LedgerEvent {
  const facts = plainJson(FACTS);
  return event('work-observed', { task, event: type === 'evidence-gathered' ? { type, facts } : { type } });
}

const GATHERING: Partial<Work> = { phase: { at: 'gathering' }, attempts: 2 };
const LIVE: Partial<Work> = { author: liveRequest('a-1'), attempts: 1 };

it.each<[string, Partial<Work>, Partial<NewTask>, readonly LedgerEvent[], readonly string[]]>([
  ['a task that no agent has', {}, {}, [], []],
  ['a live turn: it is lost with its machine, and nothing is paid for yet', LIVE, {}, [], []],
  ['a settled turn that no engine has decided on', LIVE, {}, [settled('a-1')], ['a-1']],
  ['a settled turn of its reviewer', { ...GATHERING, phase: { at: 'working' } }, {}, [settled('a-2')], []],
  ['a settled check', LIVE, {}, [settled('a-1', 'check')], []],
  ['a turn without a folder of its own', LIVE, { workspace: 'none' }, [settled('a-1')], []],
  ['a turn that looked at another commit', LIVE, { workspace: { read: 'b' } }, [settled('a-1')], []],
  ['work that the engine looks for', GATHERING, {}, [], ['a-2']],
  [
    'work that it looks for while it holds the queue',
    { ...GATHERING, phase: { at: 'gathering', holdsQueue: true } },
    {},
    [],
    ['a-2'],
  ],
  ['work that it has kept', GATHERING, {}, [observed('a', 'evidence-gathered')], []],
  ['work of another task that it has kept', GATHERING, {}, [observed('b', 'evidence-gathered')], ['a-2']],
  ['an event of the same task that keeps nothing', GATHERING, {}, [observed('a', 'integration-started')], ['a-2']],
  [
    'a decision that looks like an input',
    GATHERING,
    {},
    [{ ...observed('a', 'evidence-gathered'), cause: 3 }],
    ['a-2'],
  ],
  [
    'records of a shape that no version wrote',
    GATHERING,
    {},
    [event('work-observed', null), event('attempt-settled', 'x')],
    ['a-2'],
  ],
  ['a check of the engine', GATHERING, { kind: 'check' }, [], []],
  ['work that waits in the queue', { phase: { at: 'in-queue', commit: 'c', since: 1 } }, {}, [], []],
  ['work that is reviewed', { phase: { at: 'reviewing', commit: 'c', slots: [] } }, {}, [settled('a-1')], []],
  ['work that has ended', { phase: { at: 'ended', as: 'done', cause: null, why: '' } }, {}, [settled('a-1')], []],
])('says which paid turns only a folder has: %s', (_, work, task, later, expected) => {
  const board = boardWith([stateOf('a', task, work), stateOf('b')]);
  const found = unkeptTurns(board, later);
  expect(found).toEqual(expected.map((attempt) => ({ task: 'a', attempt })));
});
