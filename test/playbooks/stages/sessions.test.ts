import { describe, expect, it } from 'vitest';
import type { Stage, StageList } from '../../../src/playbooks/stages/stage-list.ts';
import { answers, APPROVED, done, play, rejection, stage } from './support.ts';

function listWith(spec: Partial<Stage>): StageList {
  return {
    stages: [
      stage('IDEA', { by: ['ba'], makes: { document: 'idea.md' } }),
      stage('SPEC', { by: ['ba'], makes: { document: 'spec.md' }, ...spec }),
      stage('CHECK', {
        by: ['reviewer'],
        makes: { answer: 'verdict' },
        judges: { rounds: 2, else: { redo: 'SPEC' } },
      }),
    ],
  };
}

describe('the session of a stage', () => {
  it.each<[string, Partial<Stage>, unknown, unknown]>([
    ['is a new one at first, and its own after a rejection', {}, 'new', { of: 'spec' }],
    ['is always a new one', { session: 'new' }, 'new', 'new'],
    ['is that of its agent', { session: 'role' }, 'agent', 'agent'],
    ['is that of another stage', { session: { of: 'IDEA' } }, { of: 'idea' }, { of: 'idea' }],
  ])('%s', (_, more, first, second) => {
    const played = play(listWith(more), {
      script: { turn: answers({ check: rejection('vague'), 'check-2': APPROVED }) },
    });
    expect(done(played)).toEqual(['idea', 'spec', 'check', 'spec-2', 'check-2']);
    expect(['spec', 'spec-2'].map((id) => played.board.tasks.get(id)?.task.session)).toEqual([first, second]);
    expect(played.board.tasks.get('check-2')?.task.session).toEqual({ of: 'check' });
  });

  it('of another stage is continued by the agent that has it', () => {
    const played = play(listWith({ session: { of: 'IDEA' } }), { script: { turn: answers({ check: APPROVED }) } });
    const keys = ['idea', 'spec'].map((id) => played.board.tasks.get(id)?.work.author.thread);
    expect(keys[0]).toEqual(keys[1]);
  });
});
