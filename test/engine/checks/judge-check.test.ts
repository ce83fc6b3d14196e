import { describe, expect, it } from 'vitest';
import { judgeCheck } from '../../../src/engine/checks/judge-check.ts';
import { FAILURE_KINDS, type FailureKind } from '../../../src/model/failure.ts';
import type { TurnResult } from '../../../src/model/turn-result.ts';

const base = { text: 'out', denials: [], stderrTail: '', durationMs: 1 };
const failed = (kind: FailureKind, more: Partial<TurnResult> = {}): TurnResult => ({
  ...base,
  outcome: 'failed',
  failure: { kind, message: `because of ${kind}`, mayHaveActed: true },
  ...more,
});

describe('a settled try', () => {
  it.each<[string, TurnResult, object]>([
    ['completed', { ...base, outcome: 'completed' }, { passed: true, output: 'out' }],
    ['an exit', failed('bad-output', { exit: { code: 2, signal: null } }), { why: 'exit', code: 2, output: 'out' }],
    ['a signal', failed('bad-output', { exit: { code: null, signal: 'SIGSEGV' } }), { why: 'exit', code: null }],
    ['the wall', failed('wall-timeout', { outcome: 'timed-out' }), { why: 'wall', code: null }],
    ['a flood', failed('output-flood'), { why: 'flood', code: null }],
  ])('that ended by %s is an answer', (_, result, answer) => {
    expect(judgeCheck(result)).toMatchObject({ type: 'answer', answer });
  });

  it('of any other kind says nothing, and only what may end otherwise is tried again', () => {
    const again = FAILURE_KINDS.filter((kind) => {
      const judged = judgeCheck(failed(kind));
      return judged.type === 'nothing' && judged.again;
    });
    expect(again.toSorted()).toEqual(['crashed', 'lost', 'never-started', 'protocol']);
    // Without an exit status: a result that could not be stored.
    expect(judgeCheck(failed('bad-output'))).toMatchObject({ type: 'nothing', why: 'because of bad-output' });
    const answers = FAILURE_KINDS.filter((kind) => judgeCheck(failed(kind)).type === 'answer');
    expect(answers.toSorted()).toEqual(['output-flood', 'wall-timeout']);
  });
});
