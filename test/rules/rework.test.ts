import { describe, expect, it } from 'vitest';
import type { Board } from '../../src/model/plan/board.ts';
import type { Intervention } from '../../src/model/plan/intervention.ts';
import { draftOf, workOn, type Draft } from '../../src/rules/board.ts';
import { intervene, refuseIntervention } from '../../src/rules/intervene.ts';
import { boardWith, endedAs, stateOf } from './support.ts';

const PROBLEMS: Intervention = { verb: 'rework', problems: ['the check build failed\n> boom'] };
const BASE: Intervention = { verb: 'rework', problems: [], base: { branch: 'main', commit: 'c'.repeat(40) } };
const DONE: Partial<Board> = { finished: { outcome: 'done', why: 'all is there' } };

function delivered(more: Partial<Board> = DONE): Board {
  return { ...boardWith([stateOf('a', { integrate: true }, endedAs('done'))]), ...more };
}

function after(command: Intervention): Draft {
  const draft = draftOf(delivered(), { seq: 5, at: 9_000 });
  intervene(draft, command, 'squad');
  return draft;
}

describe('a run that gets work by its pull request', () => {
  it.each([PROBLEMS, BASE])('is refused while it is at work', (command) => {
    expect(refuseIntervention(delivered({ finished: null }), command)).toBe('the run is still at work');
    expect(refuseIntervention(delivered(), command)).toBeUndefined();
  });

  it('is open again, and its playbook hears what is asked for', () => {
    const draft = after(PROBLEMS);
    expect(draft.finished).toBeNull();
    expect(draft.gate.at).toBe('idle');
    expect(draft.news).toEqual([
      { type: 'gate-refused', refused: 1, problems: ['the check build failed\n> boom'], from: 'pull-request' },
    ]);
  });

  it('merges its base by a task of the engine, and ends once that is checked', () => {
    const draft = after(BASE);
    expect(draft.news).toEqual([]);
    expect(draft.tasks.open.map(({ task }) => task)).toMatchObject([
      { kind: 'integrate', owner: 'engine', foreign: 'c'.repeat(40), integrate: true },
    ]);
    expect(draft.gate).toMatchObject({ at: 'checking', why: 'all is there' });
  });

  it('gives a base that does not merge to the playbook', () => {
    const draft = after(BASE);
    const [open] = draft.tasks.open;
    const task = open?.task.id ?? '';
    workOn(draft, task, { type: 'begun', commit: 'c'.repeat(40) });
    workOn(draft, task, { type: 'integration-started' });
    workOn(draft, task, { type: 'conflict', files: ['a.txt'], head: 'd'.repeat(40) });
    expect(draft.gate.at).toBe('idle');
    expect(draft.news).toMatchObject([
      { type: 'gate-refused', from: 'pull-request', problems: [expect.stringContaining('a.txt')] },
    ]);
  });
});
