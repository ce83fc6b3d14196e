import { describe, expect, it } from 'vitest';
import { member, rejects, type Script } from '../simulator.ts';
import { createStagesPlaybook } from '../../../src/playbooks/stages/index.ts';
import type { StageList } from '../../../src/playbooks/stages/stage-list.ts';
import {
  answers,
  APPROVED,
  briefOf,
  done,
  entry,
  OBJECTIVE,
  play,
  rejection,
  stage,
  TEAM,
  viewsOf,
} from './support.ts';

const LINE: StageList = {
  stages: [
    stage('SPEC', {
      by: ['ba', 'writer'],
      brief: '{objective}\n{criteria}\n{constraints}\n{context}\n{{item}',
      makes: { document: 'spec.md', headings: ['Scope'] },
      review: { id: 'SPEC_REVIEW', by: ['reviewer', 'pm', 'ba'] },
    }),
    stage('BUILD', { brief: 'See {of:SPEC}. {documents}' }),
    stage('TEST', { by: ['builder'], makes: { checks: 'criteria' } }),
  ],
};

describe('a line of stages', () => {
  it('is played in order, each with what it makes and who reviews it', () => {
    const played = play(LINE);
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    expect(done(played)).toEqual(['spec', 'build', 'test']);
    expect(played.board.tasks.get('spec')?.task).toMatchObject({
      role: 'ba',
      requires: [
        { kind: 'commit' },
        { kind: 'document', path: 'docs/squad/try/spec.md', headings: ['Scope'] },
        { kind: 'only', paths: ['docs/squad/try/spec.md'] },
      ],
      review: { by: ['reviewer', 'pm'], quorum: 'all', rounds: 4 },
    });
    expect(played.board.tasks.get('build')?.task).toMatchObject({ needs: ['spec'], requires: [{ kind: 'commit' }] });
    expect(played.board.tasks.get('test')?.task).toMatchObject({
      kind: 'check',
      needs: ['build'],
      requires: [{ kind: 'command', run: 'npm test', ofCriterion: true }],
    });
  });

  it('fills placeholders in once, and leaves what is filled in alone', () => {
    const played = play(LINE);
    const brief = briefOf(played, 'spec');
    expect(brief).toContain('Build it.\nC1: it runs (squad runs `npm test`)\nC2: it is pretty\n- no new package');
    expect(brief).toContain('A small {objective}.');
    expect(brief).toContain('{item}');
    expect(briefOf(played, 'build')).toContain('See docs/squad/try/spec.md. - docs/squad/try/spec.md');
  });

  it('shows a stage and its review as two', () => {
    const played = play(LINE);
    const views = viewsOf(LINE, played);
    expect(views.map(({ id, title, state }) => [id, title, state])).toEqual([
      ['SPEC', 'Spec', 'done'],
      ['SPEC_REVIEW', 'Spec Review', 'done'],
      ['BUILD', 'Build', 'done'],
      ['TEST', 'Test', 'done'],
    ]);
    expect(views[1]).toMatchObject({ by: ['reviewer', 'pm'], round: { taken: 1, cap: 4 }, tasks: ['spec'] });
    for (const view of views) expect(view.endedAt).toBeGreaterThanOrEqual(view.startedAt ?? Infinity);
  });

  it('shows who is at work, and since when, at each moment', () => {
    const rejected = { turn: ({ review }: { review: string | null }) => (review === 'pm' ? rejects('no') : undefined) };
    const { steps, board } = play(LINE, { script: rejected });
    const seen = steps.map((step) => viewsOf(LINE, step).map(({ state, by }) => `${state} ${by.join(' ')}`.trim()));
    const live = [...new Set(seen.map((row) => row.slice(0, 2).join(', ')))];
    expect(live).toContain('live ba, waiting');
    expect(live).toContain('done ba, live reviewer pm');
    expect(live).toContain('live ba, waiting reviewer pm');
    expect(viewsOf(LINE, { board }).map(({ state }) => state)).toEqual(['done', 'failed', 'waiting', 'waiting']);
    expect(viewsOf(LINE, { board })[1]?.round).toEqual({ taken: 4, cap: 4 });
    expect(board.finished).toMatchObject({
      outcome: 'failed',
      why: expect.stringContaining('rejected in round 4 of 4'),
    });
  });

  it('says that there is nothing to check, and claims nothing', () => {
    const played = play(LINE, { objective: { ...OBJECTIVE, criteria: [{ text: 'it is pretty' }] } });
    expect(played.board.tasks.get('test')?.work.phase).toMatchObject({
      as: 'skipped',
      why: expect.stringContaining('nothing to check'),
    });
    expect(viewsOf(LINE, played).at(-1)).toMatchObject({ state: 'skipped' });
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it.each([
    [
      [member('pm', 'pm'), member('builder', 'builder'), member('reviewer', 'reviewer')],
      'SPEC needs an agent with the role ba or writer; add `- {name: ba, role: ba, runtime: account-pm}` to agents',
    ],
    [
      [member('ba', 'ba'), member('builder', 'builder')],
      'SPEC_REVIEW needs an agent with the role reviewer or pm, besides ba, whose work it judges; add `- {name: reviewer, role: reviewer, runtime: account-ba}` to agents',
    ],
  ])('names a role that nobody has', (roster, error) => {
    expect(() => play(LINE, { roster })).toThrow(error);
  });

  it('does not play a run that has no list', () => {
    const playbook = createStagesPlaybook({ name: 'stages', list: LINE });
    const parsed = playbook.parse({ objective: OBJECTIVE, roster: TEAM, options: {} });
    expect(parsed.ok && playbook.plan(parsed.input)).toMatchObject([{ do: 'finish', outcome: 'failed' }]);
  });
});

describe('a stage that fails', () => {
  const noDocument = {
    evidence: (task: string) => (task === 'spec' ? { documents: [], commit: null, commits: 0 } : undefined),
  };
  const [spec, build, test] = LINE.stages;
  const skips: StageList = {
    stages: [spec, build, test].flatMap((one) =>
      one === undefined ? [] : one.id === 'SPEC' ? [{ ...one, onFail: 'skip' as const }] : [one],
    ),
  };

  it('ends the run, and what needs it never begins', () => {
    const played = play(LINE, { script: noDocument });
    expect(played.end).toMatchObject({
      outcome: 'failed',
      why: expect.stringMatching(/^SPEC: spec: [^]*\n2 stages that need it were cancelled$/),
    });
    expect([...played.board.tasks.keys()]).toEqual(['spec']);
  });

  it('is left out where its list says so, and the run says that', () => {
    const played = play(skips, { script: noDocument });
    expect(played.end).toMatchObject({
      outcome: 'done',
      why: expect.stringContaining('SPEC failed, and the run continued without it'),
    });
    expect(viewsOf(skips, played)[0]).toMatchObject({ state: 'skipped' });
    expect(briefOf(played, 'build')).toContain('none');
  });
});

const FANNED: StageList = {
  stages: [
    stage('PLAN', {
      by: ['pm', 'builder'],
      makes: { document: 'plan.md', answer: 'tasks' },
      review: { id: 'PLAN_REVIEW', by: ['reviewer', 'pm'] },
    }),
    stage('BUILD', { brief: 'Build {item}', each: { of: 'PLAN' }, review: { id: 'BUILD_REVIEW', by: ['reviewer'] } }),
    stage('JOIN', { makes: { removes: 'documents' }, by: ['pm'] }),
  ],
};
const plan = (...tasks: ReturnType<typeof entry>[]) => ({ tasks });

describe('a task for each entry', () => {
  it('runs them side by side, after what they need, and joins them', () => {
    const said = plan(entry('a'), entry('b'), entry('c', { needs: ['a'], paths: ['src/a/c'] }));
    const played = play(FANNED, { script: { turn: answers({ plan: said }) } });
    expect(played.end).toMatchObject({ outcome: 'done' });
    const together = played.steps.flatMap(({ next }) =>
      next.next === 'start' && next.starts.length > 1 ? [next.starts.map(({ task }) => task)] : [],
    );
    expect(together[0]).toEqual(['a', 'b']);
    expect(played.board.tasks.get('c')?.task.needs).toEqual(['plan', 'a']);
    expect(played.board.tasks.get('join')?.task).toMatchObject({
      needs: ['a', 'b', 'c'],
      mayChangeNothing: true,
      requires: [
        { kind: 'absent', path: 'docs/squad/try' },
        { kind: 'only', paths: ['docs/squad/try'] },
      ],
    });
    expect(played.board.tasks.get('plan')?.task.review?.by).toEqual(['reviewer']);
    expect(played.board.tasks.get('a')?.task.review?.criteria).toContain('a works');
    expect(viewsOf(FANNED, played).find(({ id }) => id === 'BUILD')).toMatchObject({
      tasks: ['a', 'b', 'c'],
      by: ['builder-1', 'builder-2'],
    });
  });

  it('asks once for a plan that can be used', () => {
    const script = { turn: answers({ plan: [{ says: plan() }, { says: plan(entry('a')) }] }) };
    const played = play(FANNED, { script });
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(played.turns.filter(({ task }) => task === 'plan')[1]?.prompt).toEqual({
      why: 'repair',
      text: 'These tasks cannot be used:\n- there is no task',
    });
  });

  it('stops clearly if it still cannot', () => {
    const played = play(FANNED, { script: { turn: answers({ plan: plan(entry('a', { needs: ['x'] })) }) } });
    expect(played.end).toMatchObject({
      outcome: 'failed',
      why: expect.stringMatching(/PLAN: plan: bad-output: These tasks cannot be used:\n.*needs "x"/s),
    });
    expect([...played.board.tasks.keys()]).toEqual(['plan']);
  });

  it('fails with one of them, after the others', () => {
    const said = plan(entry('a'), entry('b'), entry('c', { needs: ['a'] }));
    const played = play(FANNED, {
      script: {
        turn: answers({ plan: said }),
        evidence: (task) => (task === 'a' ? { commit: null, commits: 0 } : undefined),
      },
    });
    expect(played.end).toMatchObject({ outcome: 'failed', why: expect.stringContaining('BUILD: a: ') });
    expect(played.board.tasks.get('b')?.work.phase).toMatchObject({ as: 'done' });
    expect(played.board.tasks.get('c')?.work.phase).toMatchObject({ as: 'cancelled' });
    expect(played.board.tasks.has('join')).toBe(false);
  });
});

const JUDGED: StageList = {
  stages: [
    stage('BUILD', { review: { id: 'BUILD_REVIEW', by: ['reviewer'] } }),
    stage('TEST', { makes: { checks: 'criteria' } }),
    stage('POST_REVIEW', {
      by: ['pm', 'reviewer', 'builder'],
      makes: { answer: 'verdict' },
      judges: { rounds: 4, else: { fix: 'BUILD' } },
    }),
    stage('COMPLETE', { by: ['pm'], makes: { answer: { type: 'object' } } }),
  ],
};

describe('a stage that judges', () => {
  it('has every role judge but the author’s, and goes on once all approve', () => {
    const played = play(JUDGED, {
      script: { turn: answers({ 'post-review': APPROVED, 'post-review-reviewer': APPROVED, complete: {} }) },
    });
    expect(played.end).toMatchObject({ outcome: 'done', why: 'good\ngood' });
    expect(done(played)).toEqual(['build', 'test', 'post-review', 'post-review-reviewer', 'complete']);
    expect(viewsOf(JUDGED, played).map(({ state }) => state)).toEqual(Array(5).fill('done'));
  });

  it.each([30, 31, 32])('may have a second role of %i characters', (length) => {
    const role = 'r'.repeat(length);
    const list: StageList = {
      stages: [
        stage('BUILD'),
        stage('CHECK', {
          by: ['pm', role],
          makes: { answer: 'verdict' },
          judges: { rounds: 1, else: { fix: 'BUILD' } },
        }),
      ],
    };
    const turn: Script['turn'] = ({ task }) => (task === 'build' ? undefined : { output: APPROVED });
    const played = play(list, { roster: [...TEAM, member('long', role)], script: { turn } });
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(done(played)).toEqual(['build', 'check', `c-${role}`.slice(0, 32)]);
  });

  it('sends a reviewed fix to a builder, and tests and judges again', () => {
    const said = answers({
      'post-review': rejection('broken'),
      'post-review-reviewer': rejection('Broken.'),
      'post-review-2': APPROVED,
      'post-review-reviewer-2': APPROVED,
      complete: {},
    });
    let reviews = 0;
    const script: Script = {
      turn: (turn, board) =>
        turn.task === 'build' && turn.review !== null && (reviews += 1) === 1 ? rejects('no') : said(turn, board),
    };
    const played = play(JUDGED, { script });
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(done(played)).toEqual([
      'build',
      'test',
      'post-review',
      'post-review-reviewer',
      'fix-1',
      'test-2',
      'post-review-2',
      'post-review-reviewer-2',
      'complete',
    ]);
    const fix = played.board.tasks.get('fix-1')?.task;
    expect(fix).toMatchObject({
      role: 'builder',
      session: { of: 'build' },
      review: { by: ['reviewer'] },
      integrate: true,
    });
    expect(fix?.brief.text).toContain('src/a.ts:3: broken (suggestion: fix broken)');
    expect(fix?.brief.text.match(/broken \(/gi)).toHaveLength(1);
    expect(briefOf(played, 'post-review-2')).toMatch(/Check first whether each of them is fixed:[^]*broken/);
    const [build, review, test] = viewsOf(JUDGED, played);
    expect(build).toMatchObject({ by: ['builder-1'], tasks: ['build', 'fix-1'] });
    expect(review).toMatchObject({ round: { taken: 2, cap: 4 }, tasks: ['build', 'fix-1'] });
    expect(review?.startedAt).toBeLessThan(test?.startedAt ?? 0);
    expect(viewsOf(JUDGED, played).find(({ id }) => id === 'POST_REVIEW')).toMatchObject({
      round: { taken: 2, cap: 4 },
      tasks: ['post-review', 'post-review-reviewer', 'post-review-2', 'post-review-reviewer-2'],
    });
  });

  it('does not take the report of the work before a fix for one of the work after it', () => {
    const stages = JUDGED.stages.map((one) => (one.id === 'TEST' ? { ...one, makes: { document: 'test.md' } } : one));
    const said = answers({ 'post-review': rejection('broken'), 'post-review-reviewer': APPROVED, complete: {} });
    const nothing = { commits: 0, changedPaths: [], uncommitted: [] };
    const script: Script = { turn: said, evidence: (task) => (task === 'test-2' ? nothing : undefined) };
    const played = play({ stages }, { script });
    expect(played.end).toMatchObject({ outcome: 'failed' });
    expect(played.end).toMatchObject({ why: expect.stringMatching(/^TEST: test-2: .*no commit was made/) });
    expect(done(played)).toEqual(['build', 'test', 'post-review', 'post-review-reviewer', 'fix-1']);
  });

  it('ends the run at the fourth rejection, with what the judges suggest', () => {
    const rounds = Object.fromEntries(
      [1, 2, 3, 4].flatMap((n) => {
        const end = n === 1 ? '' : `-${n}`;
        return [
          [`post-review${end}`, rejection(`problem ${'abcd'[n - 1] ?? ''}`)],
          [`post-review-reviewer${end}`, APPROVED],
        ];
      }),
    );
    const played = play(JUDGED, { script: { turn: answers(rounds) } });
    expect(played.end).toMatchObject({
      outcome: 'failed',
      why: 'POST_REVIEW was rejected in round 4 of 4\n- src/a.ts:3: problem d (suggestion: fix problem d)\n1 stage that needs it was cancelled',
    });
    expect(done(played).filter((task) => task.startsWith('fix'))).toEqual(['fix-1', 'fix-2', 'fix-3']);
    expect(viewsOf(JUDGED, played).find(({ id }) => id === 'POST_REVIEW')).toMatchObject({
      state: 'failed',
      round: { taken: 4, cap: 4 },
    });
  });

  it.each([
    ['report', 4, 'round 4 of 4; not converging'],
    ['stop', 2, 'round 2 of 4; not converging'],
  ] as const)('%s: the same findings twice', (whenNotConverging, rounds, why) => {
    const turn = ({ task, review }: { task: string; review: string | null }) =>
      review !== null || !task.startsWith('post-review')
        ? undefined
        : { output: task.includes('reviewer') ? APPROVED : rejection('the same') };
    const played = play({ ...JUDGED, whenNotConverging }, { script: { turn } });
    expect(played.end).toMatchObject({ outcome: 'failed', why: expect.stringContaining(why) });
    expect(played.turns.filter(({ task }) => /^post-review(-\d)?$/.test(task))).toHaveLength(rounds);
  });

  it('counts a failed check before it as a rejection, which names the command', () => {
    let failing = true;
    const script = {
      turn: answers({ 'post-review-2': APPROVED, 'post-review-reviewer-2': APPROVED, complete: {} }),
      evidence: (task: string) => {
        if (task === 'fix-1') failing = false;
        return task.startsWith('test') && failing
          ? { commands: [{ run: 'npm test', passed: false, output: '1 failed' }] }
          : undefined;
      },
    };
    const played = play(JUDGED, { script });
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(done(played)).toEqual(['build', 'fix-1', 'test', 'post-review-2', 'post-review-reviewer-2', 'complete']);
    expect(briefOf(played, 'fix-1')).toContain('1 failed');
    expect(
      [...played.board.tasks.values()].every(({ work }) => work.phase.at === 'ended' && work.phase.as === 'done'),
    ).toBe(true);
  });

  it('takes a criterion that is not met for a rejection, whatever else it says', () => {
    const unmet = {
      approved: true,
      summary: 'fine',
      findings: [],
      criteria: [{ criterion: 'C2', met: false, evidence: null, why: 'it is grey' }],
    };
    const script = {
      turn: answers({
        'post-review': unmet,
        'post-review-reviewer': APPROVED,
        'post-review-2': APPROVED,
        'post-review-reviewer-2': APPROVED,
        complete: {},
      }),
    };
    const played = play(JUDGED, { script });
    expect(briefOf(played, 'fix-1')).toContain('criterion C2 is not met: it is grey');
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('redoes a stage and what lies between, and keeps the count', () => {
    const list: StageList = {
      stages: [
        stage('SPEC', { by: ['ba'], makes: { document: 'spec.md' } }),
        stage('DRAFT', { by: ['builder'], makes: { document: 'draft.md' } }),
        stage('CHECK', {
          by: ['reviewer'],
          makes: { answer: 'verdict' },
          judges: { rounds: 2, else: { redo: 'SPEC' } },
        }),
      ],
    };
    const script = { turn: answers({ check: rejection('vague'), 'check-2': APPROVED }) };
    const played = play(list, { script });
    expect(done(played)).toEqual(['spec', 'draft', 'check', 'spec-2', 'draft-2', 'check-2']);
    expect(played.board.tasks.get('spec-2')?.task).toMatchObject({
      session: { of: 'spec' },
      requires: [{ kind: 'commit' }, { kind: 'document' }, { kind: 'only' }],
    });
    expect(briefOf(played, 'spec-2')).toContain('vague');
    // Judges read it as what was found this time.
    expect(played.board.tasks.get('draft-2')?.task.requires).toEqual(played.board.tasks.get('draft')?.task.requires);
    expect(played.board.tasks.get('draft-2')?.task.mayChangeNothing).toBeUndefined();
    expect(briefOf(played, 'draft-2')).toContain('what the document said before does not count');
    expect(
      play(list, { script: { turn: answers({ check: rejection('a'), 'check-2': rejection('b') }) } }).end,
    ).toMatchObject({ outcome: 'failed' });
  });
});
