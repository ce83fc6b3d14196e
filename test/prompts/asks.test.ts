import { describe, expect, it } from 'vitest';
import { createCouncilPlaybook } from '../../src/playbooks/council/index.ts';
import { createDeliveryPlaybook } from '../../src/playbooks/delivery/index.ts';
import { createPlaybook, playbookOfRun } from '../../src/playbooks/registry.ts';
import { renderAuthorPrompt } from '../../src/rules/prompts/author-prompt.ts';
import type { Playbook } from '../../src/model/plan.ts';
import type { Board, Member, RunFacts, TaskState } from '../../src/model/plan/board.ts';
import type { Prompt } from '../../src/model/plan/work.ts';
import { defaultSettings } from '../../src/squad/settings/parse-settings.ts';
import { ownText } from '../../src/squad/preflight/roles.ts';
import type { Json } from '../../src/text/json.ts';
import { factsOf, member, simulate, type Script } from '../playbooks/simulator.ts';
import { answers, APPROVED, entry, OBJECTIVE } from '../playbooks/stages/support.ts';
import { withDeliveryList } from '../support/delivery-list.ts';

/** What a prompt asks for, and whether the task may do it. */
interface Ask {
  readonly words: RegExp;
  readonly fits: (about: Asked) => boolean;
}

interface Asked {
  readonly task: TaskState['task'];
  readonly commits: boolean;
}

const isOwn = ({ task }: Asked): boolean => task.workspace === 'own';
const commitsOwn = (about: Asked): boolean => isOwn(about) && about.commits;

const ASKS: readonly Ask[] = [
  {
    words: /make a new commit|, and commit\b|\bCommit (?:your|the|every|all)\b|^Commit\.|\. Commit\.|`git merge`/m,
    fits: commitsOwn,
  },
  { words: /your work is committed with git/, fits: commitsOwn },
  { words: /Do not commit|Make no commit/, fits: (about) => !commitsOwn(about) },
  { words: /in the same folder/, fits: isOwn },
  {
    words: /short report that is asked for|and reply why/,
    fits: (about) => isOwn(about) && about.task.output === undefined,
  },
  {
    words: /say why in the work itself/,
    fits: ({ task }) => isOwn({ task, commits: true }) && task.output !== undefined,
  },
  { words: /in the form asked for/, fits: ({ task }) => task.output !== undefined },
  { words: /You may build, run and write/, fits: ({ task }) => task.builds === true },
  { words: /Change no file/, fits: (about) => !isOwn(about) },
];

/** What can bring a task back to its author. Only work in a folder of its own is merged or reviewed. */
function newsOf({ task }: TaskState): Prompt[] {
  const own = ['review', 'conflict', 'verify'] as const;
  const from = ['evidence', 'person', 'playbook', ...(task.workspace === 'own' ? own : [])] as const;
  return [
    { why: 'start' },
    ...from.map((one): Prompt => ({ why: 'feedback', from: one, text: 'words' })),
    ...(task.output === undefined ? [] : [{ why: 'repair', text: 'words' } as const]),
    { why: 'answered' },
    { why: 'continue', text: 'words' },
  ];
}

/** Each task of a run in all prompts that it may get, with the instructions of its role. */
function promptsOf(board: Board, { roles }: Pick<Playbook<never>, 'roles'>, roster: readonly Member[]) {
  return [...board.tasks.values()].flatMap((state) => {
    const { task } = state;
    if (task.kind !== 'work') return [];
    const commits = roster.filter(({ role }) => role === task.role).every((one) => one.commits);
    const role = roles[task.role];
    const instructions = role === undefined ? '' : ownText(role);
    return newsOf(state).flatMap((prompt) =>
      [true, false].map((resumed) => {
        const facts = {
          run: '',
          delivered: [],
          neighbours: [],
          background: '',
          baseline: '',
          minutes: 60,
          changed: {},
        };
        const text = renderAuthorPrompt({ ...facts, state, prompt, resumed, commits });
        return { about: { task, commits }, prompt, text, instructions };
      }),
    );
  });
}

function played(playbook: Playbook<never>, facts: RunFacts, script: Script): Board {
  const parsed = (playbook as unknown as Playbook<unknown>).parse(facts);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  return simulate({ facts, playbook, plan: playbook.plan(parsed.input as never), script }).board;
}

type Commits = (role: string) => boolean;
interface Case {
  readonly playbook: Playbook<never>;
  readonly roster: readonly Member[];
  readonly board: Board;
}

const seats = (names: readonly (readonly [name: string, role: string])[], commits: Commits): Member[] =>
  names.map(([name, role]) => member(name, role, { commits: commits(role) }));

function delivery(commits: Commits, helpers: readonly string[]): Case {
  const names = ['planner', 'builder', 'reviewer', ...helpers].map((role) => [role, role] as const);
  const roster = seats(names, commits);
  const facts = withDeliveryList(factsOf(roster, { objective: OBJECTIVE }));
  const work = { role: 'builder', needs: [], files: [], brief: 'Build it.', acceptance: ['it works'] };
  const plan: Json = { summary: '', tasks: ['a', 'b'].map((id) => ({ id, title: id, ...work })), cannot: null };
  const test: Json = { passed: true, summary: 'It works.', failures: [] };
  const playbook = createDeliveryPlaybook() as unknown as Playbook<never>;
  const board = played(playbook, facts, {
    turn: ({ task }) => (task === 'plan' ? { output: plan } : task.endsWith('-test') ? { output: test } : undefined),
  });
  return { playbook, roster, board };
}

function objective(commits: Commits, documents: string): Case {
  const roles = ['pm', 'ba', 'writer', 'builder', 'reviewer'].map((role) => [role, role] as const);
  const roster = seats(roles, commits);
  const { limits } = defaultSettings();
  const from = {
    run: 'try',
    section: { documents },
    limits,
    publish: undefined,
    roles: [],
    objective: { criteria: [] },
  };
  const options = createPlaybook({}, 'objective')?.options?.(from) ?? {};
  const playbook = playbookOfRun({}, { playbook: 'objective', options }) as unknown as Playbook<never>;
  const said = {
    plan: { tasks: [entry('left'), entry('right')] },
    complete: { summary: 'built', tryIt: [], left: [], followUps: [] },
    ...{ 'post-review': APPROVED, 'post-review-reviewer': APPROVED },
  };
  const facts = factsOf(roster, { objective: OBJECTIVE, options, verifies: false });
  return { playbook, roster, board: played(playbook, facts, { turn: answers(said) }) };
}

function council(commits: Commits): Case {
  const roster = seats([['main', 'main'], ...['a', 'b'].map((name) => [name, 'member'] as const)], commits);
  const playbook = createCouncilPlaybook() as unknown as Playbook<never>;
  const text = 'Improve docs/design.md, then build it.';
  const facts = factsOf(roster, { objective: { ...OBJECTIVE, criteria: [], text } });
  const issue = { doc_path: 'docs/design.md', code_paths: [], category: 'func', severity: 'high' };
  const nothing: Json = { issues: [], summary: '', questions: [] };
  const work = { to: 'A', task_type: 'implement', summary: 'Build it.', files: [], success_criteria: ['it works'] };
  const said: Record<string, Json> = {
    'review-1': {
      issues: [{ ...issue, summary: 'It is unclear.', suggestion: 'Say it.' }],
      summary: '',
      questions: [],
    },
    'improve-1': { changes_summary: 'said' },
    assign: { summary: '', assignments: [{ ...work, task_id: 'T-1', dependencies: [], deadline_minutes: 30 }] },
    close: { summary: 'built', open_points: [] },
  };
  const board = played(playbook, facts, {
    turn: ({ task }) => ({ output: said[task] ?? (/^(?:review|verify)/.test(task) ? nothing : null) }),
    evidence: (task) => (task.startsWith('improve') ? { changedPaths: ['docs/design.md'] } : undefined),
  });
  return { playbook, roster, board };
}

const FLAGS: readonly (readonly [string, Commits])[] = [
  ['all commit', () => true],
  ['none commits', () => false],
  ['builders and members do not commit', (role) => role !== 'builder' && role !== 'member'],
];
const CASES = FLAGS.flatMap(([flags, commits]): [string, () => Case, number][] => [
  [`delivery, ${flags}`, () => delivery(commits, []), 3],
  [
    `delivery with committer and tester, ${flags}`,
    () => delivery((role) => role === 'committer' || commits(role), ['committer', 'tester']),
    5,
  ],
  [`objective, ${flags}`, () => objective(commits, 'keep'), 12],
  [`objective without documents, ${flags}`, () => objective(commits, 'drop'), 12],
  [`council, ${flags}`, () => council(commits), 7],
]);

describe.each(CASES)('the prompts of %s', (_, open, least) => {
  const { playbook, roster, board } = open();
  const prompts = promptsOf(board, playbook, roster);

  it('are those of a run that came to its end', () => {
    expect(board.tasks.size).toBeGreaterThanOrEqual(least);
    expect([...board.tasks.values()].filter(({ work: { phase } }) => phase.at !== 'ended')).toEqual([]);
  });

  it('ask only for what the task may do', () => {
    const wrong = prompts.flatMap(({ about, prompt, text, instructions }) =>
      ASKS.filter(({ words, fits }) => words.test(`${instructions}\n\n${text}`) && !fits(about)).map(
        ({ words }) => `${about.task.id} (${about.task.role}), ${prompt.why}: ${words.source}\n${text}`,
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('order a commit wherever the task has to make one', () => {
    const starts = prompts.filter(({ prompt, about }) => prompt.why === 'start' && commitsOwn(about));
    const without = starts.filter(({ text, about }) => !about.task.brief.verbatim && !/Commit your work/.test(text));
    expect(without.map(({ about }) => about.task.id)).toEqual([]);
  });
});
