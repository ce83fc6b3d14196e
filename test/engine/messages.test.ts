import { describe, expect, it } from 'vitest';
import { messagesOf } from '../../src/engine/messages.ts';
import type { Attempt } from '../../src/model/attempt.ts';
import type { AttemptOrder, HandOver } from '../../src/model/attempt-order.ts';
import { DEFAULT_TURN_LIMITS } from '../../src/model/turn-request.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';

const DONE: TurnResult = { outcome: 'completed', text: 'it is done', denials: [], stderrTail: '', durationMs: 1 };

function attempt(handOver?: HandOver, more: Partial<Attempt> = {}): Attempt {
  const order: AttemptOrder = {
    turnId: 'run.abc.greet-1',
    workspace: { path: '' },
    place: { folder: 'greet', commit: null, own: true },
    prompt: 'do it',
    instructions: '',
    access: { level: 'edit' },
    mcp: [],
    limits: DEFAULT_TURN_LIMITS,
    ...(handOver === undefined ? {} : { handOver }),
  };
  return {
    id: 'run.abc.greet-1',
    runId: 'r',
    taskId: 'greet',
    number: 1,
    kind: 'turn',
    agent: 'ada',
    runtime: 'scripted',
    epoch: 1,
    sessionKey: null,
    request: JSON.stringify(order),
    claimedAt: 0,
    process: null,
    spawnedAt: null,
    status: 'spawned',
    ...more,
  };
}

describe('messages of a settlement', () => {
  it('hands finished work to whoever judges it, once, under an id that follows from the attempt', () => {
    expect(messagesOf(attempt({ type: 'hand-off', to: ['reviewer'] }), DONE)).toEqual([
      {
        id: 'run.abc.greet-1-m1',
        from: 'ada',
        to: ['reviewer'],
        type: 'hand-off',
        body: { task: 'greet', text: 'it is done' },
      },
    ]);
  });

  it('carries a verdict as it passed its schema', () => {
    const structured = { approved: false, summary: 'no', findings: [] };
    const [message] = messagesOf(attempt({ type: 'feedback', to: ['bob'] }), { ...DONE, structured });
    expect(message).toMatchObject({ type: 'feedback', to: ['bob'], body: { structured } });
  });

  it.each([
    ['a turn that did not complete', attempt({ type: 'hand-off', to: ['x'] }), { ...DONE, outcome: 'failed' as const }],
    ['a check', attempt({ type: 'hand-off', to: ['x'] }, { kind: 'check' }), DONE],
    ['a turn whose answer is for nobody', attempt(), DONE],
  ])('is nothing for %s', (_case, of, result) => {
    expect(messagesOf(of, result)).toEqual([]);
  });
});
