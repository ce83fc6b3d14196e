import { describe, expect, it } from 'vitest';
import { decideEvidence } from '../../../src/rules/evidence.ts';
import { createView } from '../../../src/rules/view.ts';
import type { PlanNews } from '../../../src/model/plan/event.ts';
import type { EvidenceFacts } from '../../../src/model/plan/evidence.ts';
import { limitOf, type Requirement } from '../../../src/model/plan/task.ts';
import type { StageList } from '../../../src/playbooks/stages/stage-list.ts';
import { decideGrant } from '../../../src/playbooks/stages/path-grants.ts';
import { pathProblem, plainPath } from '../../../src/playbooks/stages/planned-paths.ts';
import { optionsOf } from '../../../src/playbooks/stages/stage-options.ts';
import type { Json } from '../../../src/text/json.ts';
import { foldPlan, member, type Played, type Script, type Turn } from '../simulator.ts';
import { answers, entry, play, stage } from './support.ts';

const LIST: StageList = {
  stages: [
    stage('PLAN', { by: ['pm'], makes: { answer: 'tasks' } }),
    stage('BUILD', { each: { of: 'PLAN' }, makes: { code: true } }),
  ],
};
const ROSTER = [member('pm', 'pm'), member('ba', 'ba'), member('builder-1', 'builder'), member('builder-2', 'builder')];
const PLAN = {
  tasks: [
    entry('left', { paths: ['left.txt'] }),
    entry('right', { paths: ['right.txt', 'src/'] }),
    entry('after', { paths: ['after'], needs: ['left'] }),
  ],
};

/** What `left` has when its author's first turn has ended. */
function played(script: Script): Played {
  return play(LIST, { roster: ROSTER, script: { ...script, turn: script.turn ?? answers({ plan: PLAN }) } });
}

const pathsOf = ({ board }: Pick<Played, 'board'>, task: string) =>
  limitOf(board.tasks.get(task)?.task.requires ?? [])?.paths;

const notesTo = ({ effects }: Played, address: string): string[] =>
  effects.flatMap((one) =>
    one.effect === 'send' && one.message.from === 'ROUTER' && one.message.to.includes(address)
      ? [JSON.stringify(one.message.body['text'])]
      : [],
  );

/** A question of the author of `left` in its first turn, and an answer to it. */
function asks(to: string, answer: { from: string; paths: Json }, more: Partial<Script> = {}): Script {
  const sent = new Set<string>();
  const mail = (turn: Turn): readonly PlanNews[] => {
    if (turn.task !== 'left' || turn.review !== null || sent.has('ask')) return [];
    sent.add('ask');
    const ask: PlanNews = {
      ...{ type: 'mail', id: 'm-1', from: turn.agent, to: [to], action: 'clarify', kind: 'ask', via: 'left' },
      body: { question: 'May I?' },
    };
    const re = { id: 'm-1', from: turn.agent, action: 'clarify' } as const;
    return [
      ask,
      {
        ...{ type: 'mail', id: 'm-2', from: answer.from, to: [turn.agent], action: 'answer', kind: 'send', re },
        body: { answer: 'yes', reason: 'needed', paths: answer.paths },
      },
    ];
  };
  return { mail, turn: answers({ plan: PLAN }), evidence: () => undefined, ...more };
}

const facts = (...changedPaths: string[]): EvidenceFacts => ({
  ...{ base: 'b', commit: 'c', commits: 1, changedPaths, uncommitted: [], files: [], commands: [], pr: null },
});

describe('the paths of a planned task', () => {
  it.for([
    ['a file', ['left.txt'], ['left.txt'], []],
    ['a file next to it', ['left.txt'], ['left.txt.bak'], ['left.txt.bak']],
    ['what is in a folder', ['src/'], ['src/a/b.ts'], []],
    ['a folder whose name begins so', ['src'], ['srcs/a.ts'], ['srcs/a.ts']],
    ['other capitals', ['README.md'], ['readme.md'], ['readme.md']],
    ['an accent in the other form', ['caf\u00e9'], ['cafe\u0301/menu.txt'], []],
    ['a file that is renamed into it', ['src'], ['lib/a.ts', 'src/a.ts'], ['lib/a.ts']],
    ['a file that is deleted elsewhere', ['src'], ['old.ts'], ['old.ts']],
    ['a link, a submodule and a repository of its own, by their paths', ['src'], ['src/link', 'sub'], ['sub']],
    [
      'what was generated and committed',
      ['src'],
      ['dist/a.js', 'package-lock.json'],
      ['dist/a.js', 'package-lock.json'],
    ],
    ['the whole repository', ['.'], ['any/where'], []],
    ['nothing, because what git ignores is in no commit', ['src'], [], []],
  ] as const)('%s', ([, paths, changed, outside]) => {
    const requires: Requirement[] = [{ kind: 'only', paths: [...paths] }];
    const owes = { requires, judged: false, returned: null };
    const missing = outside.join(', ');
    expect(decideEvidence(owes, facts(...changed))).toEqual(
      outside.length === 0
        ? { ok: true, commit: 'c' }
        : { ok: false, missing: [`only ${paths.join(', ')} may change, but these files did: ${missing}`] },
    );
  });

  it('names up to fifty paths outside', () => {
    const changed = Array.from({ length: 60 }, (_, index) => `x/${index}`);
    const answer = decideEvidence(
      { requires: [{ kind: 'only', paths: ['src'] }], judged: false, returned: null },
      facts(...changed),
    );
    expect(answer).toMatchObject({ missing: [expect.stringMatching(/x\/49 and 10 more$/)] });
  });

  it.for([
    ...['.git', '.GIT/config', 'sub/.git/hooks', '.squad', '.Squad/runs', './.git', '.git/'],
    ...[
      '../a',
      'a/../b',
      '/etc',
      '~/a',
      'C:/a',
      'a\\b',
      '',
      'a\u0000b',
      'a\u2028b',
      `a/${'b'.repeat(500)}`,
      '*.ts',
      'a[1]',
    ],
  ])('are none of git, of squad, outside, or a pattern: %j', (path) => {
    expect(pathProblem(plainPath(path))).toBeDefined();
  });

  it.for(['src', 'src/', './src//a', '.github', '.gitignore', 'a.git', '.squad-notes', 'docs/.squad', 'ü'])(
    'may be %j',
    (path) => {
      expect(pathProblem(plainPath(path))).toBeUndefined();
    },
  );
});

describe('a planned task', () => {
  it('is kept to its paths, and a fix of the whole is not', () => {
    const run = played({});
    expect(pathsOf(run, 'left')).toEqual(['left.txt']);
    expect(pathsOf(run, 'right')).toEqual(['right.txt', 'src']);
    expect(limitOf(run.board.tasks.get('left')?.task.requires ?? [])?.instead).toContain('ask `pm` for it');
    expect(run.board.tasks.get('plan')?.task.requires).toEqual([]);
  });

  const MAIN = member('lead', 'main');
  const SECOND = member('pm-2', 'pm');
  it.for<[string, readonly ReturnType<typeof member>[], Readonly<Record<string, readonly string[]>>, string]>([
    ['its planner', [], {}, 'ask `pm` for it'],
    ['its planner by the name of its role', [], { builder: ['pm'] }, 'ask `pm` for it'],
    ['its planner in other capitals', [], { builder: ['PM'] }, 'ask `pm` for it'],
    ['MAIN, where no route leads to its planner', [], { builder: ['ba'] }, 'ask `MAIN` for it'],
    ['MAIN, where an agent of the role has no route to it', [], { 'builder-2': [] }, 'ask `MAIN` for it'],
    ['MAIN, where routes are of other roles', [MAIN], { builder: [], ba: ['pm'] }, 'ask `MAIN` for it'],
    ['its planner, whatever the routes of others', [], { ba: [], pm: [] }, 'ask `pm` for it'],
  ])('names %s', ([, more, routes, expected]) => {
    const { board } = play(LIST, { roster: [...ROSTER, ...more], routes, script: { turn: answers({ plan: PLAN }) } });
    expect(limitOf(board.tasks.get('left')?.task.requires ?? [])?.instead).toContain(expected);
  });

  it.for<[string, string, readonly ReturnType<typeof member>[], Readonly<Record<string, readonly string[]>>, string]>([
    ['another of the same role', 'pm', [member('pm', 'pm'), SECOND], {}, 'ask `pm`, or `MAIN` if that is you, for it'],
    ['MAIN, where it planned the task alone', 'pm', [member('pm', 'pm')], {}, 'ask `MAIN` for it'],
    ['MAIN, where another one may not', 'pm', [member('pm', 'pm'), SECOND], { 'pm-2': [] }, 'ask `MAIN` for it'],
    ['no one, where MAIN itself planned it', 'main', [MAIN], {}, 'leave it as it is, and name it'],
  ])('names %s where a planner builds', ([, by, roster, routes, expected]) => {
    const list: StageList = {
      stages: [
        stage('PLAN', { by: [by], makes: { answer: 'tasks' } }),
        stage('BUILD', { by: [by], each: { of: 'PLAN' }, makes: { code: true } }),
      ],
    };
    const { board } = play(list, { roster, routes, script: { turn: answers({ plan: PLAN }) } });
    expect(limitOf(board.tasks.get('left')?.task.requires ?? [])?.instead).toContain(expected);
  });

  it('goes back once with the list, and then fails with both lists', () => {
    let looked = 0;
    const evidence: Script['evidence'] = (task) => {
      if (task !== 'left') return undefined;
      looked += 1;
      return { changedPaths: looked === 1 ? ['left.txt', 'a', 'b'] : ['b'] };
    };
    const { work } = played({ evidence }).board.tasks.get('left') ?? {};
    expect(looked).toBe(2);
    expect(work?.phase).toMatchObject({
      as: 'failed',
      cause: 'no-evidence',
      why: 'only left.txt may change, but these files did: a, b\nafter that: only left.txt may change, but these files did: b',
    });
  });
});

describe('an answer with paths', () => {
  it('of the planner adds them, on record', () => {
    const run = played(asks('pm', { from: 'pm', paths: ['lib/x.ts', './lib/x.ts', 'left.txt'] }));
    expect(pathsOf(run, 'left')).toEqual(['left.txt', 'lib/x.ts']);
    expect(notesTo(run, 'builder-1')).toEqual([
      JSON.stringify('lib/x.ts added to the paths of left, by pm.\nIt may change only left.txt, lib/x.ts.'),
    ]);
    const edits = run.entries.flatMap((one) =>
      one.entry === 'changes' ? one.changes.filter((change) => change.do === 'edit-task') : [],
    );
    expect(edits).toHaveLength(1);
    expect(pathsOf({ board: foldPlan(run.board.facts, run.entries) }, 'left')).toEqual(['left.txt', 'lib/x.ts']);
  });

  it('of MAIN adds them', () => {
    expect(pathsOf(played(asks('pm', { from: 'MAIN', paths: ['lib'] })), 'left')).toEqual(['left.txt', 'lib']);
  });

  it('of the planner without the tool adds them, and the answer says only what was added', () => {
    const said = { answer: 'yes', doc_updated: false, doc_path: '', reason: 'needed', paths: ['lib', 'src/a'] };
    const says = { plan: PLAN, 'answer-1-pm': said };
    const script = asks('pm', { from: 'pm', paths: [] }, { turn: answers(says) });
    const onlyAsk: Script['mail'] = (turn, board) => script.mail?.(turn, board).slice(0, 1) ?? [];
    const run = played({ ...script, mail: onlyAsk });
    expect(run.board.tasks.get('answer-1-pm')?.task).toMatchObject({
      output: { schema: 'mail-answer-paths' },
      brief: { text: expect.stringContaining('`paths`') },
    });
    expect(pathsOf(run, 'left')).toEqual(['left.txt', 'lib']);
    const sent = run.effects.flatMap((one) =>
      one.effect === 'send' && one.message.from === 'pm' ? [one.message.body] : [],
    );
    expect(sent).toEqual([{ answer: 'yes', paths: ['lib'], reason: 'needed' }]);
  });

  it.for([
    ['of another agent', { from: 'ba', paths: ['lib'] }, 'ba did not plan it; only pm or MAIN can add paths'],
    ['of another builder', { from: 'builder-2', paths: ['lib'] }, 'builder-2 did not plan it'],
    ['of the author itself', { from: 'builder-1', paths: ['lib'] }, 'builder-1 did not plan it'],
    ['with a path of open work', { from: 'pm', paths: ['SRC/a.ts'] }, 'because right changes it at the same time'],
    ['with all of a folder that open work is in', { from: 'pm', paths: ['.'] }, 'name files or folders'],
    ['with the run’s documents', { from: 'pm', paths: ['docs'] }, 'the documents of the run'],
    ['with a path of git', { from: 'pm', paths: ['.git/hooks'] }, 'belongs to git or to squad'],
    ['with a path outside', { from: 'pm', paths: ['../other'] }, 'no path within the repository'],
    ['with a pattern', { from: 'pm', paths: ['*'] }, 'a character of a pattern'],
    ['with too many paths', { from: 'pm', paths: Array.from({ length: 21 }, (_, n) => `x${n}`) }, 'at most 20 paths'],
  ] as const)('%s adds nothing, and its asker hears why', ([, answer, why]) => {
    const run = played(asks('pm', { from: answer.from, paths: [...answer.paths] }));
    expect(pathsOf(run, 'left')).toEqual(['left.txt']);
    expect(notesTo(run, 'builder-1').join('\n')).toContain(why);
  });

  it.for([[7], 'lib', null, { a: 1 }])('that is no list of texts adds nothing: %j', (paths) => {
    const run = played(asks('pm', { from: 'pm', paths }));
    expect(pathsOf(run, 'left')).toEqual(['left.txt']);
  });

  it('adds a path of work that waits for the task, and of work that is over', () => {
    const run = played(asks('pm', { from: 'pm', paths: ['after/x'] }));
    expect(pathsOf(run, 'left')).toEqual(['left.txt', 'after/x']);
  });

  it('comes too late for a task that has ended', () => {
    const { board } = played({});
    const view = createView(board);
    const [task, options] = [view.task('left'), optionsOf(view)];
    if (task === undefined || options === undefined) throw new Error('no task');
    const answer = { task, ask: { from: task.doneBy ?? '', via: 'left' }, by: 'pm', paths: ['lib'] };
    expect(decideGrant(view, options, answer)).toEqual({ added: [], refused: ['left has ended'] });
  });
});
