import { describe, expect, it } from 'vitest';
import type { Board, Member } from '../../../src/model/plan/board.ts';
import type { PlanNews } from '../../../src/model/plan/event.ts';
import { createStagesPlaybook } from '../../../src/playbooks/stages/index.ts';
import type { StageList } from '../../../src/playbooks/stages/stage-list.ts';
import { withApproval } from '../../../src/playbooks/shared/plan-approval.ts';
import { factsOf, foldPlan, member, simulate, type Played, type Script, type Turn } from '../simulator.ts';
import { APPROVED, briefOf, done, entry, OBJECTIVE, play, rejection, stage, TEAM, viewsOf } from './support.ts';
import { finding } from '../../support/findings.ts';

const LIST: StageList = {
  stages: [
    stage('PLAN', { by: ['pm'], makes: { answer: 'tasks' } }),
    stage('BUILD', { each: { of: 'PLAN' }, review: { id: 'BUILD_REVIEW', by: ['reviewer'] } }),
    stage('TEST', { makes: { checks: 'criteria' } }),
    stage('POST_REVIEW', {
      by: ['pm', 'reviewer'],
      makes: { answer: 'verdict' },
      judges: { rounds: 2, else: { fix: 'BUILD' } },
    }),
    stage('COMPLETE', { by: ['pm'], makes: { document: 'end.md' } }),
  ],
};

/** Judges approve, and the planner plans one task. */
function friendly({ task, review }: Turn): { output: typeof APPROVED } | undefined {
  if (review !== null) return undefined;
  if (task === 'plan') return { output: { tasks: [entry('a')] } };
  return task.startsWith('post-review') ? { output: APPROVED } : undefined;
}

const ASSIGN: PlanNews = {
  type: 'mail',
  id: 'sess-1-9',
  from: 'MAIN',
  to: ['builder'],
  kind: 'ask',
  action: 'assign',
  task: 'EXTRA-1',
  body: { task_type: 'implement', files: [], success_criteria: ['it is there'], dependencies: [] },
};
const ADDED = 'mail-9-builder';

function mailed(when: (board: Board) => boolean, script: Script = {}): Played {
  let sent = false;
  const outside = (board: Board): PlanNews | undefined => {
    if (sent || !when(board)) return undefined;
    sent = true;
    return ASSIGN;
  };
  return play(LIST, { script: { turn: friendly, ...script, outside } });
}

const live = (task: string) => (board: Board) => board.tasks.get(task)?.work.author.state.at === 'live';

describe('work that mail adds', () => {
  it('is reviewed like the work of a stage, and waited for by those that judge the whole', () => {
    const played = mailed(live('a'));
    expect(played.board.tasks.get(ADDED)?.task).toMatchObject({ integrate: true, review: { by: ['reviewer'] } });
    expect(played.board.tasks.get('test')?.task.needs).toEqual(['a', ADDED]);
    expect(done(played).slice(-4)).toEqual(['test', 'post-review', 'post-review-reviewer', 'complete']);
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('has the whole judged again where it comes last, before the run goes on', () => {
    const played = mailed(live('post-review-reviewer'));
    const order = done(played);
    expect(order.slice(order.indexOf(ADDED))).toEqual([
      ADDED,
      'test-2',
      'post-review-2',
      'post-review-reviewer-2',
      'complete',
    ]);
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(viewsOf(LIST, played).find(({ id }) => id === 'POST_REVIEW')?.round).toEqual({ taken: 1, cap: 2 });
  });

  it('is judged also where it comes after the judges', () => {
    const played = mailed(live('complete'));
    const order = done(played);
    expect(order.slice(order.indexOf('post-review-reviewer') + 1)).toEqual(
      expect.arrayContaining(['complete', ADDED, 'test-2', 'post-review-2', 'post-review-reviewer-2']),
    );
    expect(order.at(-1)).toBe('complete-2');
    expect(order.indexOf('post-review-2')).toBeGreaterThan(order.indexOf(ADDED));
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  const READS = { commits: false, readOnly: true } as const;
  const BY_ENGINE = { integrate: true, requires: [{ kind: 'diff' }] };
  const BY_AGENT = { integrate: true, requires: [{ kind: 'commit' }] };
  const lou = (more: Partial<Member> = {}) => member('lou', 'looker', more);
  const lea = (more: Partial<Member> = {}) => member('lea', 'looker', more);
  const wil = (more: Partial<Member> = {}) => member('wil', 'writer', more);
  const BY_WRITER = { integrate: true, mayChangeNothing: true };

  it.each<[string, string, Member[], object]>([
    ['only reads, of a role without a stage that only reads', 'looker', [lou(READS)], { integrate: false }],
    ['delivers, of a role without a stage that commits', 'looker', [lou()], BY_AGENT],
    ['delivers, of one that edits and cannot commit', 'looker', [lou({ commits: false })], BY_ENGINE],
    [
      'delivers, of an agent that cannot commit as others of its role can',
      'lou',
      [lou({ commits: false }), lea()],
      BY_ENGINE,
    ],
    ['delivers, of an agent that commits as others of its role cannot', 'lea', [lou(READS), lea()], BY_AGENT],
    [
      'only reads, of an agent that does as others of its role do not',
      'lou',
      [lou(READS), lea()],
      { integrate: false },
    ],
    [
      'goes to one that edits, where another one of the role only reads',
      'looker',
      [lou(READS), lea()],
      { agent: 'lea', ...BY_AGENT },
    ],
    ['may change nothing, of a role whose stages may', 'writer', [wil()], BY_WRITER],
    ['only reads, of a role whose stages may and whose agent only reads', 'writer', [wil(READS)], { integrate: false }],
  ])('%s', (_, to, more, expected) => {
    const mayChangeNothing = stage('NOTES', {
      by: ['writer', 'builder'],
      makes: { code: true, mayChangeNothing: true },
    });
    const list: StageList = { stages: [stage('BUILD'), mayChangeNothing] };
    const roster = [member('bob', 'builder'), ...more];
    let sent = false;
    const outside = (board: Board): PlanNews | undefined => {
      if (sent || !live('build')(board)) return undefined;
      sent = true;
      return { ...ASSIGN, to: [to] };
    };
    const looks = (task: string) =>
      task.startsWith('mail') ? { commit: null, commits: 0, changedPaths: [] } : undefined;
    const isLooking = !('requires' in expected);
    const objective = { ...OBJECTIVE, criteria: [] };
    const played = play(list, { roster, objective, script: { outside, ...(isLooking ? { evidence: looks } : {}) } });
    const added = [...played.board.tasks.values()].find(({ task }) => task.id.startsWith('mail'));
    expect(added?.task).toMatchObject(expected);
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('that is rejected fails the run, whatever the judges said', () => {
    const no = {
      output: { approved: false, summary: 'no', findings: [finding('no test')] },
    };
    const played = mailed(live('post-review'), {
      turn: (turn) => (turn.task === ADDED && turn.review !== null ? no : friendly(turn)),
    });
    expect(played.end).toMatchObject({ outcome: 'failed', why: expect.stringContaining(ADDED) });
  });
});

describe('a refusal of the run branch', () => {
  it('is repaired by the builders, reviewed, and judged again', () => {
    let broken = true;
    const played = play(LIST, {
      script: {
        turn: (turn) => {
          if (turn.task === 'fix-1') broken = false;
          return friendly(turn);
        },
        gate: () => (broken ? { failing: ['npm test'] } : undefined),
      },
    });
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(played.board.tasks.get('fix-1')?.task).toMatchObject({
      role: 'builder',
      session: { of: 'a' },
      review: { by: ['reviewer'] },
    });
    const order = done(played);
    expect(order.slice(order.indexOf('fix-1'))).toEqual([
      ...['fix-1', 'test-2', 'post-review-2', 'post-review-reviewer-2', 'complete-2'],
    ]);
  });

  it('has the documents removed again that its judges delivered again, and names no removed one', () => {
    let broken = true;
    const list: StageList = {
      stages: [
        stage('SPEC', { by: ['ba'], makes: { document: 'spec.md' } }),
        stage('BUILD'),
        stage('TEST', { makes: { document: 'test.md' } }),
        stage('POST_REVIEW', {
          by: ['pm', 'reviewer'],
          makes: { answer: 'verdict' },
          judges: { rounds: 2, else: { fix: 'BUILD' } },
        }),
        stage('COMPLETE', { by: ['pm'], brief: 'Remove {documents}', makes: { removes: 'documents' } }),
      ],
    };
    const played = play(list, {
      script: {
        turn: (turn) => {
          if (turn.task === 'fix-1') broken = false;
          return friendly(turn);
        },
        gate: () => (broken ? { failing: ['npm test'] } : undefined),
      },
    });
    expect(played.end).toMatchObject({ outcome: 'done' });
    const order = done(played);
    expect(order.slice(order.indexOf('complete'))).toEqual([
      ...['complete', 'fix-1', 'test-2', 'post-review-2', 'post-review-reviewer-2', 'complete-2'],
    ]);
    expect(played.board.tasks.get('test-2')?.task.brief.files ?? []).toEqual([]);
    expect(played.board.tasks.get('post-review-2')?.task.brief.files).toEqual(['docs/squad/try/test.md']);
    expect(briefOf(played, 'complete')).toContain('docs/squad/try/spec.md');
    expect(briefOf(played, 'complete-2')).not.toContain('docs/squad/try/spec.md');
    expect(briefOf(played, 'complete-2')).toContain('docs/squad/try/test.md');
  });

  it('ends the run where no stage makes code', () => {
    const list = { stages: [stage('SPEC', { makes: { document: 'spec.md' } })] };
    const played = play(list, { script: { gate: () => ({ failing: ['npm test'] }) } });
    expect(played.end).toMatchObject({ outcome: 'failed', why: expect.stringContaining('npm test') });
  });
});

describe('a plan that a person approves', () => {
  function asked(
    answer: (text: string) => string | undefined,
    plans: readonly ReturnType<typeof entry>[][],
    { list = LIST, ...script }: Script & { readonly list?: StageList } = {},
  ): Played {
    const playbook = withApproval(createStagesPlaybook({ name: 'stages', list }));
    const options = { list, folder: 'docs/squad/try', reviewRounds: 4 } as unknown as Board['facts']['options'];
    const facts = factsOf(TEAM, { objective: OBJECTIVE, options, asksForPlan: true, verifies: false });
    const parsed = playbook.parse(facts);
    if (!parsed.ok) throw new Error('no input');
    let turns = 0;
    const turn = (one: Turn): ReturnType<typeof friendly> => {
      if (one.task !== 'plan') return friendly(one);
      turns += 1;
      return { output: { tasks: plans[Math.min(turns, plans.length) - 1] ?? [] } };
    };
    return simulate({
      facts,
      playbook,
      plan: playbook.plan(parsed.input),
      script: { ...script, turn, answer: ({ text }) => answer(text) },
    });
  }

  it('starts nothing before, and plays what was approved', () => {
    const texts: string[] = [];
    const played = asked(
      (text) => {
        texts.push(text);
        return 'approve';
      },
      [[entry('a'), entry('b')]],
    );
    expect(texts).toEqual([expect.stringMatching(/^Approve the plan\? 2 tasks: a, b\. /)]);
    expect(played.end).toMatchObject({ outcome: 'done' });
    const stepAsked = played.steps.findIndex(({ next }) => next.next === 'ask');
    expect([...(played.steps[stepAsked]?.board.tasks.keys() ?? [])]).toEqual(['plan']);
  });

  it('waits for the answer also where other work ends meanwhile', () => {
    const list = {
      stages: [
        stage('PLAN', { by: ['pm'], needs: [], makes: { answer: 'tasks' } }),
        stage('GUIDE', { needs: [] }),
        stage('BUILD', { needs: ['PLAN', 'GUIDE'], each: { of: 'PLAN' } }),
      ],
    } satisfies StageList;
    const waiting = asked(() => undefined, [[entry('a')]], { list });
    expect(done(waiting)).toEqual(['plan', 'guide']);
    expect(waiting.end).toMatchObject({ next: 'ask', questions: [{ id: 'plan-1' }] });
    const approved = asked(() => 'approve', [[entry('a')]], { list });
    expect(approved.end).toMatchObject({ outcome: 'done' });
    expect(done(approved)).toEqual(['plan', 'guide', 'a']);
  });

  it('waits for the answer also where a question by mail ends meanwhile', () => {
    let sent = false;
    const outside = (board: Board): PlanNews | undefined => {
      if (sent || !live('plan')(board)) return undefined;
      sent = true;
      return { ...ASSIGN, action: 'review' };
    };
    const waiting = asked(() => undefined, [[entry('a')]], { outside });
    expect(done(waiting)).toEqual(['plan', 'answer-9-builder-1']);
    expect(waiting.end).toMatchObject({ next: 'ask', questions: [{ id: 'plan-1' }] });
  });

  it('plays the plan that a person wrote', () => {
    const played = asked(() => JSON.stringify({ tasks: [entry('mine')] }), [[entry('a')]]);
    expect(played.board.tasks.has('mine')).toBe(true);
    expect(played.board.tasks.has('a')).toBe(false);
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('goes back to its author for a change, and ends the run where a person stops it', () => {
    let asks = 0;
    const changed = asked(
      () => ((asks += 1) === 1 ? 'Make it two.' : 'approve'),
      [[entry('a')], [entry('a'), entry('b')]],
    );
    expect(changed.board.tasks.has('b')).toBe(true);
    expect(asked(() => 'stop', [[entry('a')]]).end).toMatchObject({ outcome: 'cancelled' });
  });
});

describe('an operator', () => {
  /** Until its run has failed once, `bad` decides; then the operator retries the task, and all is well. */
  function retried(task: string, script: Script): Played {
    let failedOnce = false;
    return play(LIST, {
      script: {
        turn: (turn, board) => (failedOnce ? friendly(turn) : (script.turn?.(turn, board) ?? friendly(turn))),
        evidence: (id, facts) => (failedOnce ? undefined : script.evidence?.(id, facts)),
        outside: (board) => {
          if (failedOnce || board.finished?.outcome !== 'failed') return undefined;
          failedOnce = true;
          return { type: 'intervention', intervention: { verb: 'retry', task, fresh: false }, by: 'ada' };
        },
      },
    });
  }

  it('tries the last judges again, and the run goes on from their verdict', () => {
    const played = retried('post-review-2', {
      turn: ({ task, review }) =>
        review === null && /^post-review(-2)?$/.test(task) ? { output: rejection(`in ${task}`) } : undefined,
    });
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(done(played).slice(-2)).toEqual(['post-review-2', 'complete']);
    expect(viewsOf(LIST, played).every(({ state }) => state === 'done')).toBe(true);
  });

  it('tries a failed task again, and the stages after it follow', () => {
    const played = retried('a', { evidence: (task) => (task === 'a' ? { commit: null, commits: 0 } : undefined) });
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(done(played).at(-1)).toBe('complete');
  });

  it('skips a task, and the run goes on without it', () => {
    let sent = false;
    const played = play(LIST, {
      script: {
        turn: friendly,
        outside: (board) => {
          if (sent || !live('a')(board)) return undefined;
          sent = true;
          return { type: 'intervention', intervention: { verb: 'skip', task: 'a', why: 'not needed' }, by: 'ada' };
        },
      },
    });
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(viewsOf(LIST, played).find(({ id }) => id === 'BUILD')?.state).toBe('skipped');
  });
});

describe('an agent that made a document on the way to the judges', () => {
  const judged = (by: readonly string[]): StageList => ({
    stages: [
      stage('SPEC', { by: ['ba'], makes: { document: 'spec.md' } }),
      stage('BUILD'),
      stage('CHECK', { by, makes: { answer: 'verdict' }, judges: { rounds: 2, else: { redo: 'SPEC' } } }),
    ],
  });
  const judges = (list: StageList, more: Parameters<typeof play>[1] = {}) => {
    const turn = ({ task }: Turn) => (task.startsWith('check') ? { output: APPROVED } : undefined);
    const played = play(list, { script: { turn }, ...more });
    expect(played.end).toMatchObject({ outcome: 'done' });
    return played.turns.filter(({ task }) => task.startsWith('check')).map(({ agent }) => agent);
  };

  it('does not judge', () => {
    expect(judges(judged(['builder', 'reviewer']))).toEqual(['reviewer']);
  });

  it('is refused before the run where only it could judge', () => {
    expect(() => play(judged(['builder']))).toThrow('CHECK needs an agent with another role than ba and builder');
  });
});

describe('what is stored', () => {
  it.each([
    ['a whole run', (turn: Turn) => friendly(turn)],
    [
      'rejections',
      (turn: Turn) =>
        turn.review === null && turn.task === 'post-review' ? { output: rejection('x') } : friendly(turn),
    ],
  ])('makes the same stages again: %s', (_, turn) => {
    const played = play(LIST, { script: { turn } });
    const folded = foldPlan(played.board.facts, played.entries);
    expect(viewsOf(LIST, { board: folded })).toEqual(viewsOf(LIST, played));
    expect(folded.records).toEqual(played.board.records);
  });
});
