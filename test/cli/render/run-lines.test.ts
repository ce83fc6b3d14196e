import { describe, expect, it } from 'vitest';
import { renderRunEvent } from '../../../src/cli/render/run-lines.ts';

describe('a line of a run', () => {
  it('keeps the reasons of several tasks apart', () => {
    const why = 'cli: rejected in round 4 of 4\nverify: it needs cli, which failed';
    expect(renderRunEvent({ type: 'decided', at: 1, runId: 'r', next: 'finish', why })).toBe(
      'finish    cli: rejected in round 4 of 4; verify: it needs cli, which failed',
    );
  });

  it('keeps the parts of the reason of a task apart', () => {
    const ended = { type: 'task-changed', at: 1, runId: 'r', task: 'a', title: 'Do a', status: 'failed' } as const;
    expect(renderRunEvent({ ...ended, role: 'builder', round: 1, why: 'no form:\nno b\nno c' })).toBe(
      'task      a failed — Do a: no form: no b; no c',
    );
  });

  it('says how to answer a question that a person has not seen', () => {
    const overdue = { type: 'mail-overdue', at: 1, runId: 'r', message: 's-1-7' } as const;
    expect(renderRunEvent({ ...overdue, to: 'MAIN', action: 'clarify' })).toBe(
      `mail      MAIN has not answered s-1-7 in time. Next: squad mail reply "…" --corr '#7'`,
    );
    expect(renderRunEvent({ ...overdue, to: 'A', action: 'review' })).toBe(
      'mail      A has not answered s-1-7 in time',
    );
  });

  it.each([
    [{}, 'stage     SPEC_REVIEW (4/13) live — Review'],
    [
      { state: 'done', by: ['reviewer', 'pm'], round: { taken: 2, cap: 4 } },
      'stage     SPEC_REVIEW (4/13) done, round 2 of 4, by reviewer, pm — Review',
    ],
    [
      { title: '\u001b[2J\nstage     TEST (11/13) done', id: 'A\nB' },
      'stage     A B (4/13) live — stage TEST (11/13) done',
    ],
  ] as const)('names a stage, its place, its round and who is at work in it: %j', (more, line) => {
    const stage = { id: 'SPEC_REVIEW', title: 'Review', state: 'live', by: [], tasks: ['spec'], ...more } as const;
    const shown = { ...stage, by: [...stage.by], tasks: [...stage.tasks] };
    const base = { type: 'stage-changed', at: 1, runId: 'r', place: 4, of: 13, change: 'state' } as const;
    expect(renderRunEvent({ ...base, stage: shown })).toBe(line);
  });

  it.each([
    ['try again', 'answered  q: try again'],
    ['{"tasks": []}', 'answered  q: the plan, edited'],
  ])('says what a person answered: %s', (answer, line) => {
    expect(renderRunEvent({ type: 'question-answered', at: 1, runId: 'r', question: 'q', answer })).toBe(line);
  });
});
