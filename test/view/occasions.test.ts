import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/model/run-event.ts';
import { createOccasions } from '../../src/view/occasions.ts';

const asked = (at: number, text = 'Which?'): RunEvent => {
  return { type: 'question-asked', at, runId: 'r', question: `q-${at}`, text, options: [], tasks: [] };
};

describe('a person is called', () => {
  it('for a question, and once for several at the same time', () => {
    const occasions = createOccasions();
    expect(occasions.of(asked(1_000))).toEqual({ what: 'question', text: 'squad asks: Which?' });
    expect(occasions.of(asked(1_400, 'And this?'))).toBeUndefined();
    expect(occasions.of(asked(60_000, 'Now?'))).toEqual({ what: 'question', text: 'squad asks: Now?' });
    expect(occasions.of({ type: 'warning', at: 90_000, runId: 'r', text: 'disk' })).toBeUndefined();
  });

  it.each([
    ['done', true],
    ['failed', true],
    ['stopped', true],
    // Whoever interrupted it is there.
    ['interrupted', false],
    // An older question has no answer yet.
    ['waiting', true],
  ] as const)('at the end as %s: %s', (outcome, isCalled) => {
    const occasion = createOccasions().ofEnd({ name: 'run', headline: 'THE END', outcome });
    expect(occasion).toEqual(isCalled ? { what: outcome, text: 'run: THE END' } : undefined);
  });

  it('again for an answer of theirs that is overdue, each time, and not for one of an agent', () => {
    const occasions = createOccasions();
    const late = { type: 'mail-overdue', at: 1, runId: 'r', message: 's-1-7', to: 'MAIN', action: 'clarify' } as const;
    const line = 'from:bob | question:which port? | doc:- | code:-';
    expect(occasions.of({ ...late, line })).toBeUndefined();
    const occasion = { what: 'overdue', text: `not answered in time: ${line}` };
    expect(occasions.of({ ...late, line, person: true })).toEqual(occasion);
    expect(occasions.of({ ...late, line, person: true, at: 2 })).toEqual(occasion);
  });

  it('by the words of who asks', () => {
    const event = { ...asked(1, 'bob asks: which?'), question: 'mail/7' } as RunEvent;
    expect(createOccasions().of(event)).toEqual({ what: 'question', text: 'bob asks: which?' });
  });

  it('for an agent that waits in its turn, and then for an end that waits for something else', () => {
    const occasions = createOccasions();
    const turn = { at: 1_000, runId: 'r', attemptId: 'a', task: 't', agent: 'ann' };
    expect(occasions.of({ type: 'notice', ...turn, text: 'slow' })).toBeUndefined();
    const text = 'asks for permission: deploy';
    expect(occasions.of({ type: 'notice', ...turn, text, asks: true })).toEqual({
      what: 'question',
      text: `squad asks: ${text}`,
    });
    expect(occasions.ofEnd({ name: 'run', headline: 'WAITING', outcome: 'waiting' })).toBeDefined();
  });

  it('not again for an end that waits for the question', () => {
    const occasions = createOccasions();
    occasions.of(asked(1_000));
    expect(occasions.ofEnd({ name: 'run', headline: 'WAITING', outcome: 'waiting' })).toBeUndefined();
    expect(occasions.ofEnd({ name: 'run', headline: 'DONE', outcome: 'done' })).toBeDefined();
  });
});
