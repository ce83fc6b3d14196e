import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/text/json.ts';
import type { Member } from '../../../src/model/plan/board.ts';
import type { StageList } from '../../../src/playbooks/stages/stage-list.ts';
import { member, type Played, type Script } from '../simulator.ts';
import { answers, APPROVED, briefOf, done, entry, play, rejection, stage, TEAM, viewsOf } from './support.ts';

const VERDICT = { answer: 'verdict' } as const;
const JUDGED: StageList = {
  stages: [
    stage('PLAN', { by: ['pm'], makes: { answer: 'tasks' } }),
    stage('BUILD', { by: ['builder', 'ba'], each: { of: 'PLAN' }, brief: 'Build {item:title} as {item:role}.' }),
    stage('TEST', {
      ...{ by: ['reviewer', 'pm'], each: { of: 'BUILD' }, makes: VERDICT, brief: 'Test {item:id}.' },
      judges: { rounds: 3, else: { redo: 'BUILD' } },
    }),
    stage('REPORT', { by: ['pm'], makes: { answer: { type: 'object' } } }),
  ],
};
const PLAN: Json = { tasks: [entry('one'), entry('two', { needs: ['one'] })] };
const says = (...all: Json[]): readonly { readonly says: Json }[] => all.map((one) => ({ says: one }));

const script = (more: Record<string, Json | readonly { readonly says: Json }[]> = {}, plan = PLAN): Script => ({
  turn: answers({
    ...{ plan, report: {} },
    ...Object.fromEntries(['one-test', 'one-test-pm', 'two-test', 'two-test-pm'].map((id) => [id, APPROVED])),
    ...more,
  }),
});
const work = (played: Played, id: string) => played.board.tasks.get(id)?.work;
const phase = (played: Played, id: string) => {
  const at = work(played, id)?.phase;
  return at?.at === 'ended' ? at.as : at?.at;
};

describe('a stage that judges each entry', () => {
  it('has a task for each of its roles, which asks for no verdict on the whole', () => {
    const played = play(JUDGED, { script: script() });
    expect(played.board.finished?.outcome).toBe('done');
    expect(done(played)).toEqual(expect.arrayContaining(['one-test', 'one-test-pm', 'two-test', 'two-test-pm']));
    expect(played.board.tasks.get('two')?.task.needs).toEqual(['plan', 'one-test', 'one-test-pm']);
    expect(played.board.tasks.get('one-test')?.task.parent).toBe('one');
    expect(briefOf(played, 'one-test')).toMatch(/^Test one\.\n\nRead the files, [^]*`criteria` is an empty list\.$/);
  });

  it('has the work of its entry done again in the same sessions, and judges it again', () => {
    const played = play(JUDGED, { script: script({ 'one-test': says(rejection('no'), APPROVED) }) });
    expect(played.board.finished?.outcome).toBe('done');
    expect(['one', 'one-test', 'one-test-pm', 'two'].map((id) => work(played, id)?.round)).toEqual([2, 2, 2, 1]);
    expect(work(played, 'one')?.feedback).toEqual(['not yet\n- src/a.ts:3: no (suggestion: fix no)']);
    const order = done(played);
    expect(order.lastIndexOf('one-test')).toBeLessThan(order.indexOf('two'));
    const again = played.turns.filter(({ task, review }) => task === 'one' && review === null);
    expect(again.map(({ session }) => session.resume)).toEqual([false, true]);
  });

  it('fails the entry with the last rejection, and lets the others end', () => {
    const plan: Json = { tasks: [entry('one'), entry('two')] };
    const played = play(JUDGED, { script: script({ 'one-test': rejection('no') }, plan) });
    expect(played.board.finished?.outcome).toBe('failed');
    expect(played.end.why).toContain('TEST: one-test: one was rejected in round 3 of 3');
    expect(played.end.why).toContain('not converging');
    expect([phase(played, 'one'), phase(played, 'one-test'), phase(played, 'two-test')]).toEqual([
      'done',
      'failed',
      'done',
    ]);
    expect(done(played)).not.toContain('report');
    expect(viewsOf(JUDGED, played).find(({ id }) => id === 'TEST')).toMatchObject({
      state: 'failed',
      round: { taken: 3, cap: 3 },
    });
  });

  it('goes on past an entry that failed, where the list says so', () => {
    const plan: Json = { tasks: [entry('one'), entry('two')] };
    const stages = JUDGED.stages.map((one) => (one.id === 'TEST' ? { ...one, onFail: 'skip' as const } : one));
    const played = play({ stages }, { script: script({ 'one-test': rejection('no') }, plan) });
    expect(played.board.finished?.outcome).toBe('done');
    expect(done(played)).toContain('report');
    expect(played.end.why).toContain('TEST failed, and the run continued without it');
  });

  it('stops once the same is found twice, where the list says so', () => {
    const played = play({ ...JUDGED, whenNotConverging: 'stop' }, { script: script({ 'one-test': rejection('no') }) });
    expect(work(played, 'one')?.round).toBe(2);
    expect(played.end.why).toContain('in round 2 of 3; not converging');
    expect(phase(played, 'two')).toBe('cancelled');
  });

  it('fails the entry alone when its work has no round left', () => {
    const judged = JUDGED.stages.map((one) =>
      one.id === 'TEST' ? { ...one, judges: { rounds: 20, else: { redo: 'BUILD' } } } : one,
    );
    const plan: Json = { tasks: [entry('one'), entry('two')] };
    let round = 0;
    const said = script({}, plan);
    const played = play(
      { stages: judged },
      {
        script: {
          turn: (turn, board) =>
            turn.task === 'one-test' ? { output: rejection(`${(round += 1)}`) } : said.turn?.(turn, board),
        },
      },
    );
    expect(played.board.finished?.outcome).toBe('failed');
    expect(played.end.why).toContain('and its last test or review failed: not yet');
    expect(phase(played, 'two-test')).toBe('done');
  });

  it('is skipped with the work that a person skips', () => {
    let said = false;
    const played = play(JUDGED, {
      script: {
        ...script(),
        outside: ({ tasks }) => {
          if (said || !tasks.has('one')) return undefined;
          said = true;
          return { type: 'intervention', intervention: { verb: 'skip', task: 'one', why: 'no' }, by: 'dana' };
        },
      },
    });
    expect(played.board.finished?.outcome).toBe('done');
    expect(['one', 'one-test', 'one-test-pm', 'two'].map((id) => phase(played, id))).toEqual([
      'skipped',
      'skipped',
      'skipped',
      'done',
    ]);
  });
});

describe('the role of an entry', () => {
  it('picks who does it from those of the stage', () => {
    const plan: Json = { tasks: [entry('one', { role: 'ba' }), entry('two')] };
    const played = play(JUDGED, { script: script({}, plan) });
    expect(played.board.finished?.outcome).toBe('done');
    expect(['one', 'two'].map((id) => played.board.tasks.get(id)?.task.role)).toEqual(['ba', 'builder']);
    expect(briefOf(played, 'one')).toContain('Build Make one as ba.');
    expect(briefOf(played, 'plan')).toContain('The `role` of each task is one of builder, ba.\n');
  });

  it('is asked for only where there is a choice, and has to be one of them', () => {
    const one = { stages: JUDGED.stages.map((of) => (of.id === 'BUILD' ? { ...of, by: ['builder'] } : of)) };
    expect(briefOf(play(one, { script: script() }), 'plan')).not.toContain('`role`');
    const wrong = play(JUDGED, { script: script({}, { tasks: [entry('one', { role: 'cook' })] }) });
    expect(wrong.end.why).toContain('task 1 ("one"): no role "cook" works on it; roles: builder, ba');
  });

  it('leaves the judging to another role', () => {
    const stages = JUDGED.stages.map((of) => (of.id === 'TEST' ? { ...of, by: ['reviewer', 'ba'] } : of));
    const roster: Member[] = [...TEAM, member('ba-2', 'ba')];
    const plan: Json = { tasks: [entry('one', { role: 'ba' }), entry('two')] };
    const played = play({ stages }, { roster, script: script({ 'two-test-ba': APPROVED }, plan) });
    expect(played.board.finished?.outcome).toBe('done');
    expect(played.board.tasks.has('one-test-ba')).toBe(false);
    expect(played.board.tasks.has('two-test-ba')).toBe(true);
  });
});
