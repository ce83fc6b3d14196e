import { expect, it } from 'vitest';
import { applyChanges } from '../../../src/graph/decisions/apply-changes.ts';
import { applyWork } from '../../../src/graph/decisions/apply-work.ts';
import { createBoard } from '../../../src/graph/decisions/board.ts';
import { foldEntry } from '../../../src/graph/decisions/fold-plan.ts';
import { applyInputs } from '../../../src/graph/decisions/plan-step.ts';
import { createDeliveryPlaybook } from '../../../src/playbooks/delivery/index.ts';
import { factsOf, failed, member } from '../../playbooks/simulator.ts';
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
      {
        ...({ do: 'ask', id: 'q', text: '?', options: [], blocks: 'run' } as const),
        defaultAfter: { ms: HOUR, answer: 'yes' },
      },
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

  const back = { seq: 2, at: 9 * HOUR + 1_000, setBack: HOUR };
  const step = applyInputs(board, createDeliveryPlaybook(), [back]);
  expect(step).toMatchObject({ entries: [{ entry: 'clock', ...back }], effects: [], news: [] });
  const [entry] = step.entries;
  expect(entry === undefined ? undefined : foldEntry(board, entry)).toEqual(step.board);
  board = step.board;
  expect(board.now).toBe(back.at);
  expect(until()).toBe(before.retry - HOUR);
  expect(board.accounts.get('bob')?.until).toBe(before.limit - HOUR);
  expect(board.timers.get('t')).toBe(10 * HOUR);
  expect(board.questions.get('q')?.default?.at).toBe(10 * HOUR);
});
