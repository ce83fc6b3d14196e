import { expect, it } from 'vitest';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { applyWork } from '../../src/rules/plan-step.ts';
import { createBoard } from '../../src/rules/board.ts';
import { applyInputs, foldEntry } from '../../src/rules/plan-step.ts';
import { createDeliveryPlaybook } from '../../src/playbooks/delivery/index.ts';
import { factsOf, failed, member } from '../playbooks/simulator.ts';
import { newTask } from './support.ts';

const HOUR = 3_600_000;
const AT = { seq: 1, at: 10 * HOUR };

it('brings forward all that is waited for, is stored, and is the same again when it is folded', () => {
  const parked = ['network', 'rate-limited'] as const;
  let board = applyChanges(
    createBoard(factsOf([member('bob', 'builder'), member('cyd', 'builder')])),
    [
      ...parked.map((id) => ({ do: 'add-task', task: newTask(id) }) as const),
      { do: 'set-timer', id: 't', at: 11 * HOUR },
    ],
    AT,
  ).board;
  for (const kind of parked) {
    const attempt = `${kind}-1`;
    const begun = {
      type: 'attempt-started',
      attempt,
      agent: 'bob',
      account: 'bob',
      session: 's',
      review: null,
    } as const;
    const gone = { type: 'attempt-settled', attempt, outcome: 'failed', text: '', ...failed(kind) } as const;
    for (const event of [begun, gone]) board = applyWork(board, kind, event, AT).board;
  }
  const until = (): number => {
    const state = board.tasks.get('network')?.work.author.state;
    return state?.at === 'waiting' ? state.until : 0;
  };
  const before = { retry: until(), limit: board.accounts.get('bob')?.until ?? 0 };
  expect(Math.min(before.retry, before.limit)).toBeGreaterThan(AT.at);

  const moment = { seq: 2, at: 9 * HOUR + 1_000 };
  const event = { type: 'clock-set-back', ms: HOUR } as const;
  const step = applyInputs(board, createDeliveryPlaybook(), [{ ...moment, event }]);
  expect(step).toMatchObject({ entries: [{ entry: 'event', ...moment, event }], effects: [] });
  const [entry] = step.entries;
  expect(foldEntry(board, entry!)).toEqual(step.board);
  board = step.board;
  expect(board.now).toBe(moment.at);
  expect(until()).toBe(before.retry - HOUR);
  expect(board.accounts.get('bob')?.until).toBe(before.limit - HOUR);
  expect(board.timers.get('t')).toBe(10 * HOUR);
});
