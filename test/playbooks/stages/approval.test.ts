import { describe, expect, it } from 'vitest';
import type { StageList } from '../../../src/playbooks/stages/stage-list.ts';
import type { Script } from '../simulator.ts';
import { answers, done, entry, play, stage, viewsOf } from './support.ts';

const SIGN_OFF = stage('SIGN_OFF', {
  by: [],
  brief: 'See {of:BUILD}.',
  makes: { approval: true },
  judges: { rounds: 2, else: { redo: 'BUILD' } },
});
const LIST: StageList = { stages: [stage('BUILD'), SIGN_OFF, stage('SHIP')] };
const PLANNED: StageList = {
  stages: [
    stage('PLAN', { by: ['pm'], makes: { answer: 'tasks' } }),
    { ...SIGN_OFF, judges: { rounds: 3, else: { redo: 'PLAN' } } },
    stage('SHIP', { each: { of: 'PLAN' } }),
  ],
};

function judged(list: StageList, said: readonly string[], script: Script = {}) {
  const left = [...said];
  const asked: string[] = [];
  const answer: Script['answer'] = ({ id, text }) => {
    asked.push(`${id}: ${text}`);
    return left.shift();
  };
  const played = play(list, { script: { answer, ...script } });
  return { ...played, asked };
}

describe('a stage that a person judges', () => {
  it('waits for the answer, and starts nothing after it before', () => {
    const played = judged(LIST, []);
    expect(played.end).toMatchObject({ next: 'ask' });
    expect(played.asked).toEqual(['approve-sign-off-1: Approve SIGN_OFF? See - Build.']);
    expect(viewsOf(LIST, played).map(({ id, state }) => `${id} ${state}`)).toEqual([
      ...['BUILD done', 'SIGN_OFF live', 'SHIP waiting'],
    ]);
  });

  it.each<[string, string[], string, string[]]>([
    ['approves', ['approve'], 'done', ['build', 'sign-off', 'ship']],
    ['approves in capitals', [' Approve '], 'done', ['build', 'sign-off', 'ship']],
    ['rejects in words', ['too plain', 'approve'], 'done', ['build', 'sign-off', 'build-2', 'sign-off-2', 'ship']],
    ['rejects in braces', ['{}', 'approve'], 'done', ['build', 'sign-off', 'build-2', 'sign-off-2', 'ship']],
    ['rejects for the last time', ['too plain', 'too loud'], 'failed', ['build', 'sign-off', 'build-2', 'sign-off-2']],
    ['stops', ['stop'], 'cancelled', ['build', 'sign-off']],
  ])('%s', (_, said, outcome, tasks) => {
    const played = judged(LIST, said);
    expect(played.end).toMatchObject({ outcome });
    expect(done(played)).toEqual(tasks);
    expect(played.asked).toHaveLength(said.length);
  });

  it('gives its words to the work that is done again, and to people at the end', () => {
    const played = judged(LIST, ['too plain', 'too loud']);
    expect(played.board.tasks.get('build-2')?.task.brief.text).toContain('too plain');
    expect(played.end).toMatchObject({
      why: expect.stringMatching(/^SIGN_OFF was rejected in round 2 of 2.*too loud/s),
    });
    expect(judged(LIST, ['stop']).end).toMatchObject({ why: expect.stringContaining('SIGN_OFF was not approved') });
  });

  it('may send a plan back, whose tasks begin once it is approved', () => {
    const plans = answers({ plan: { tasks: [entry('left')] }, 'plan-2': { tasks: [entry('right')] } });
    const played = judged(PLANNED, ['the other one', 'approve'], { turn: plans });
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(done(played)).toEqual(['plan', 'sign-off', 'plan-2', 'sign-off-2', 'right']);
  });

  it('is asked again where a person retries it after the last rejection', () => {
    let tried = false;
    const played = judged(LIST, ['one', 'two', 'approve'], {
      outside: ({ finished }) => {
        if (finished?.outcome !== 'failed' || tried) return undefined;
        tried = true;
        return { type: 'intervention', by: 'dana', intervention: { verb: 'retry', task: 'sign-off-2', fresh: false } };
      },
    });
    expect(played.asked.map((text) => text.split(':')[0])).toEqual([1, 2, 3].map((n) => `approve-sign-off-${n}`));
    expect(played.end).toMatchObject({ outcome: 'done' });
  });
});
