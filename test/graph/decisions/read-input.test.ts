import { describe, expect, it } from 'vitest';
import { isInput, readInput, type SettledTurn } from '../../../src/graph/decisions/read-input.ts';
import type { Json } from '../../../src/text/json.ts';
import type { LedgerEvent } from '../../../src/model/ledger-event.ts';
import type { TurnResult } from '../../../src/model/turn-result.ts';

function event(type: string, data: Json = {}, cause: number | null = null): LedgerEvent {
  return { seq: 7, stream: 'run', type, at: 1_000, cause, epoch: 1, data };
}

describe('what somebody has to decide on', () => {
  it.each([
    ['the settlement of a turn', event('attempt-settled', { kind: 'turn' }), true],
    ['the settlement of a check, which is part of an operation', event('attempt-settled', { kind: 'check' }), false],
    ['the result of an operation', event('work-observed'), true],
    ['a timer', event('timer-fired', { id: 'x' }), true],
    ['an operator', event('operator-command'), true],
    ['a resume', event('run-resumed'), true],
    ['a decision of the same type', event('work-observed', {}, 3), false],
    ['a lease', event('lease-acquired'), false],
    ['a spawn', event('attempt-spawned'), false],
    ['a late result', event('late-result'), false],
    ['an observed fact', event('first-tool'), false],
  ])('%s', (_what, one, expected) => expect(isInput(one)).toBe(expected));
});

const RESULT: TurnResult = {
  outcome: 'completed',
  text: 'x'.repeat(9_999),
  denials: [],
  stderrTail: '',
  durationMs: 5,
};
const TURN: SettledTurn = { attempt: 'a-1', task: 'a', result: RESULT, mail: [], awaits: [] };
const SETTLED = event('attempt-settled', { attemptId: 'r.1.a-1', kind: 'turn' });

describe('a settlement', () => {
  it('is work of its task, with what the plan needs of it and no more', () => {
    expect(readInput(SETTLED, { turn: TURN })).toEqual([
      {
        seq: 7,
        at: 1_000,
        task: 'a',
        work: { type: 'attempt-settled', attempt: 'a-1', outcome: 'completed', text: 'x'.repeat(500) },
      },
    ]);
  });

  it('keeps the structured answer and the failure', () => {
    const failure = { kind: 'network', message: 'm'.repeat(5_000), mayHaveActed: true } as const;
    const result: TurnResult = { ...RESULT, outcome: 'failed', failure, structured: { a: 1 } };
    const [input] = readInput(SETTLED, { turn: { ...TURN, result } });
    expect(input).toMatchObject({
      work: { output: { a: 1 }, failure: { kind: 'network', message: 'm'.repeat(2_000) } },
    });
  });

  it('of something else than a turn is nothing', () => expect(readInput(SETTLED, {})).toEqual([]));
});

describe('records of others', () => {
  const wish = (intervention: object, by = 'ada') => ({ event: { type: 'intervention', intervention, by } });
  const timer = { event: { type: 'timer', id: 'engine/retry/a' } };
  const answer = { event: { type: 'answer', question: 'q', answer: 'yes', by: 'ada' } };
  it.each([
    ['timer-fired', { id: 'engine/retry/a' }, [timer]],
    ['timer-fired', { name: 'x' }, []],
    ['operator-command', { id: 1, verb: 'answer', by: 'ada', data: { question: 'q', answer: 'yes' } }, [answer]],
    ['operator-command', { id: 1, verb: 'stop', by: 'ada', data: {} }, [wish({ verb: 'stop' })]],
    [
      'operator-command',
      { id: 1, verb: 'skip', by: 'ada', data: { task: 'a', why: 'old' } },
      [wish({ verb: 'skip', task: 'a', why: 'old' })],
    ],
    ['operator-command', { id: 1, verb: 'skip', by: 'ada', data: { task: 'a' } }, []],
    ['operator-command', { id: 1, verb: 'pause', by: 'ada', data: { on: '../x' } }, []],
    ['operator-command', { id: 1, verb: 'become-root', by: 'ada', data: {} }, []],
    ['run-resumed', {}, [wish({ verb: 'resume', on: 'run' }, 'resume')]],
    ['operator-command', { id: 1, verb: 'answer', by: 'ada', data: { question: 7 } }, []],
    ['operator-command', 'answer', []],
    [
      'work-observed',
      { task: 'a', event: { type: 'integration-started' } },
      [{ task: 'a', work: { type: 'integration-started' } }],
    ],
    ['work-observed', { task: 'a', event: { type: 'become-root' } }, []],
    ['work-observed', { event: { type: 'integration-started' } }, []],
    ['run-woken', { why: 'x' }, []],
  ] as [string, Json, object[]][])('%s %j', (type, data, expected) => {
    expect(readInput(event(type, data), {})).toMatchObject(expected);
    expect(readInput(event(type, data), {})).toHaveLength(expected.length);
  });
});
