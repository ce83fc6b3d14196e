import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/text/json.ts';
import type { StageList } from '../../../src/playbooks/stages/stage-list.ts';
import { member, type Played, type Script } from '../simulator.ts';
import { answers, APPROVED, entry, play, rejection, stage, viewsOf } from './support.ts';

const PEOPLE = [
  member('pm', 'pm'),
  member('bob', 'builder', { commits: false }),
  member('mia', 'mason'),
  member('rex', 'reviewer'),
  member('com', 'committer'),
];
const COMMIT = stage('COMMIT', { by: ['committer'], makes: { commit: true }, brief: 'Commit what is staged.' });
const review = { id: 'REVIEW', by: ['reviewer'] };
const ONE: StageList = { stages: [stage('BUILD', { review }), COMMIT] };
const CHAIN: StageList = {
  stages: [
    stage('PLAN', { by: ['pm'], makes: { answer: 'tasks' } }),
    stage('BUILD', { by: ['builder', 'mason'], each: { of: 'PLAN' }, review }),
    { ...COMMIT, each: { of: 'BUILD' } },
    stage('TEST', {
      ...{ by: ['reviewer'], each: { of: 'COMMIT' }, makes: { answer: 'verdict' }, brief: 'Test {item:id}.' },
      judges: { rounds: 3, else: { redo: 'BUILD' } },
    }),
  ],
};
const PLAN: Json = { tasks: [entry('one'), entry('two', { role: 'mason' })] };
const script = (more: Parameters<typeof answers>[0] = {}, plan: Json = PLAN): Script => ({
  turn: answers({ plan, 'one-test': APPROVED, 'two-test': APPROVED, ...more }),
});
const ends = ({ board }: Played): string[] =>
  [...board.tasks.values()].map(
    ({ task, work: { phase } }) => `${task.id} ${phase.at === 'ended' ? phase.as : phase.at}`,
  );
const task = ({ board }: Played, id: string) => board.tasks.get(id)?.task;

describe('a stage that commits', () => {
  it('commits the reviewed work of the stage before', () => {
    const played = play(ONE, { roster: PEOPLE });
    expect(played.board.finished?.outcome).toBe('done');
    expect(task(played, 'build')).toMatchObject({
      integrate: false,
      requires: [{ kind: 'diff' }],
      review: { by: ['reviewer'] },
    });
    expect(task(played, 'commit')).toMatchObject({
      ...{ base: 'build', needs: ['build'], role: 'committer', integrate: true, requires: [{ kind: 'commit' }] },
    });
  });

  it.each([
    ['whose author commits', PEOPLE.map((one) => ({ ...one, commits: true }))],
    ['for which there is no agent', PEOPLE.map((one) => (one.role === 'committer' ? { ...one, role: 'other' } : one))],
  ])('has nothing to do after work %s', (_, roster) => {
    const list = { stages: [stage('BUILD', { review }), { ...COMMIT, by: ['committer', 'other'] }] };
    const played = play(list, { roster });
    expect(played.board.finished?.outcome).toBe('done');
    expect(ends(played)).toContain(roster.some(({ role }) => role === 'other') ? 'commit done' : 'commit skipped');
  });

  it('is left out for an entry whose author commits', () => {
    const played = play(CHAIN, { roster: PEOPLE, script: script() });
    expect(played.board.finished?.outcome).toBe('done');
    expect(ends(played).filter((line) => /^(?:one|two)/.test(line))).toEqual([
      ...['one done', 'one-commit done', 'one-test done', 'two done', 'two-test done'],
    ]);
    expect(task(played, 'one-commit')).toMatchObject({ base: 'one', needs: ['one'], parent: 'one' });
    expect(task(played, 'one-test')?.needs).toEqual(['one-commit']);
    expect(task(played, 'two-test')?.needs).toEqual(['two']);
    expect(task(played, 'two')).toMatchObject({
      integrate: true,
      requires: [{ kind: 'commit' }, { kind: 'diff' }, { kind: 'only' }],
    });
  });

  it('is skipped where no entry is for it', () => {
    const played = play(CHAIN, { roster: PEOPLE, script: script({}, { tasks: [entry('two', { role: 'mason' })] }) });
    expect(played.board.finished?.outcome).toBe('done');
    expect(viewsOf(CHAIN, played).map(({ id, state }) => `${id} ${state}`)).toContain('COMMIT skipped');
  });

  it('commits again what a judge sent back', () => {
    const said = script({ 'one-test': [{ says: rejection('no') }, { says: APPROVED }] });
    const played = play(CHAIN, { roster: PEOPLE, script: said });
    expect(played.board.finished?.outcome).toBe('done');
    const rounds = ['one', 'one-commit', 'one-test', 'two'].map((id) => played.board.tasks.get(id)?.work.round);
    expect(rounds).toEqual([2, 2, 2, 1]);
  });

  it('has no failure where there is nothing to commit', () => {
    const build = stage('BUILD', {
      by: ['builder'],
      each: { of: 'PLAN' },
      makes: { code: true, mayChangeNothing: true },
    });
    const list = { stages: CHAIN.stages.map((one) => (one.id === 'BUILD' ? build : one)) };
    const unchanged = { commit: null, commits: 0, changedPaths: [] };
    const played = play(list, {
      roster: PEOPLE,
      script: {
        ...script({}, { tasks: [entry('one'), entry('two')] }),
        evidence: (id) => (id === 'one' ? unchanged : undefined),
      },
    });
    expect(played.board.finished?.outcome).toBe('done');
    expect(ends(played)).toEqual(expect.arrayContaining(['one done', 'one-commit skipped', 'two-commit done']));
    const single = play(
      { stages: [stage('BUILD', { makes: build.makes }), COMMIT] },
      {
        roster: PEOPLE,
        script: { evidence: () => unchanged },
      },
    );
    expect(single.board.finished?.outcome).toBe('done');
    expect(ends(single)).toEqual(['build done', 'commit skipped', 'judge done']);
  });

  it('is skipped with the work that a person skips', () => {
    let said = false;
    const played = play(CHAIN, {
      roster: PEOPLE,
      script: {
        ...script(),
        outside: ({ tasks }) => {
          if (said || !tasks.has('one')) return undefined;
          said = true;
          return { type: 'intervention', intervention: { verb: 'skip', task: 'one', why: 'no' }, by: 'dana' };
        },
      },
    });
    expect(ends(played)).toEqual(expect.arrayContaining(['one skipped', 'one-commit skipped', 'one-test skipped']));
    expect(played.board.finished?.outcome).toBe('done');
  });
});

describe('work that no plan has', () => {
  const body = { task_type: 'hand-off', files: [], success_criteria: ['it is short'], dependencies: [] };
  const mail = { type: 'mail', id: 'sess-1-9', from: 'rex', kind: 'ask', action: 'assign' } as const;

  it('goes through the stages behind its own when mail adds it', () => {
    let posted = false;
    const said = script();
    const played = play(CHAIN, {
      roster: PEOPLE,
      script: {
        turn: (turn, board) => (/^mail-9.*-test$/.test(turn.task) ? { output: APPROVED } : said.turn?.(turn, board)),
        outside: ({ tasks }) => {
          if (posted || tasks.get('two-test')?.work.phase.at !== 'ended') return undefined;
          posted = true;
          return { ...mail, to: ['builder'], task: 'TIDY-1', via: 'two-test', body };
        },
      },
    });
    expect(played.board.finished?.outcome).toBe('done');
    const added = ends(played).filter((line) => line.startsWith('mail-'));
    expect(added).toEqual(['mail-9-builder done', 'mail-9-builder-commit done', 'mail-9-builder-test done']);
    expect(task(played, 'mail-9-builder')).toMatchObject({
      ...{ integrate: false, parent: 'two-test', brief: { mail: ['sess-1-9'] } },
    });
    const test = task(played, 'mail-9-builder-test');
    expect(test?.brief.text).toContain('Also repeat these earlier tests:\n- Test one.\n- Test two.');
    expect(test?.brief.mail).toEqual(['sess-1-9']);
    expect(viewsOf(CHAIN, played).every(({ state }) => state === 'done')).toBe(true);
  });

  it('has the whole judged again once, where its entries are committed before the judges', () => {
    const verdict = stage('VERDICT', {
      ...{ by: ['reviewer'], makes: { answer: 'verdict' }, judges: { rounds: 3, else: { fix: 'BUILD' } } },
    });
    let posted = false;
    const said = script({ verdict: APPROVED, 'verdict-2': APPROVED });
    const played = play(
      { stages: [...CHAIN.stages, verdict] },
      {
        roster: PEOPLE,
        script: {
          turn: (turn, board) => (/-test(?:-\d)?$/.test(turn.task) ? { output: APPROVED } : said.turn?.(turn, board)),
          outside: ({ tasks }) => {
            if (posted || tasks.get('verdict')?.work.author.state.at !== 'live') return undefined;
            posted = true;
            return { ...mail, to: ['builder'], task: 'TIDY-1', via: 'two-test', body };
          },
        },
      },
    );
    expect(ends(played).filter((line) => line.startsWith('verdict'))).toEqual(['verdict done', 'verdict-2 done']);
    expect(played.board.finished?.outcome).toBe('done');
  });

  it('goes through them as a repair of the merged work, too', () => {
    let refusals = 0;
    const said = script();
    const played = play(CHAIN, {
      roster: PEOPLE,
      script: {
        turn: (turn, board) => (turn.task === 'fix-1-test' ? { output: APPROVED } : said.turn?.(turn, board)),
        gate: () => ((refusals += 1) === 1 ? { failing: ['npm test'] } : undefined),
      },
    });
    expect(played.board.finished?.outcome).toBe('done');
    const added = ends(played).filter((line) => line.startsWith('fix-'));
    expect(added).toEqual(['fix-1 done', 'fix-1-commit done', 'fix-1-test done']);
    expect(task(played, 'fix-1')?.brief.text).toContain('Done means:\n- ');
    expect(task(played, 'fix-1')?.role).toBe('builder');
  });
});
