import { limitsSchema } from '../../src/model/limits.ts';
import type { Playbook } from '../../src/model/plan.ts';
import type { Board, Member, RunFacts } from '../../src/model/plan/board.ts';
import { createCoordinatePlaybook } from '../../src/playbooks/coordinate/index.ts';
import { createCouncilPlaybook } from '../../src/playbooks/council/index.ts';
import { createDeliveryPlaybook } from '../../src/playbooks/delivery/index.ts';
import { createPlaybook, playbookOfRun } from '../../src/playbooks/registry.ts';
import { createSessionPlaybook } from '../../src/playbooks/session/index.ts';
import { defaultSettings } from '../../src/squad/settings/parse-settings.ts';
import { plainJson, type Json } from '../../src/text/json.ts';
import { castFor, playSession, sessionFrom } from '../playbooks/session/support.ts';
import { factsOf, member, simulate, type Script } from '../playbooks/simulator.ts';
import { answers, APPROVED, entry, OBJECTIVE } from '../playbooks/stages/support.ts';
import { withDeliveryList } from '../support/delivery-list.ts';
import { DIAMOND } from '../support/session-folder.ts';
import { teamAnswer } from '../support/team-answer.ts';

function played(playbook: Playbook<never>, facts: RunFacts, script: Script): Board {
  const parsed = (playbook as unknown as Playbook<unknown>).parse(facts);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  return simulate({ facts, playbook, plan: playbook.plan(parsed.input as never), script }).board;
}

type Commits = (role: string) => boolean;
/** A run that came to its end. */
export interface Played {
  readonly playbook: Playbook<never>;
  readonly roster: readonly Member[];
  readonly board: Board;
}

const seats = (names: readonly (readonly [name: string, role: string])[], commits: Commits): Member[] =>
  names.map(([name, role]) => member(name, role, { commits: commits(role) }));

function delivery(commits: Commits, helpers: readonly string[]): Played {
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

function bestOf(commits: Commits): Played {
  const roster = seats(
    ['builder', 'reviewer'].map((role) => [role, role] as const),
    commits,
  );
  const playbook = createPlaybook({}, 'best-of') as unknown as Playbook<never>;
  const from = { run: 'try', section: undefined, limits: limitsSchema.parse({}), publish: undefined, roles: [] };
  const options = playbook.options?.({ ...from, objective: { criteria: [] }, verify: ['npm test'], tries: 2 }) ?? {};
  const facts = factsOf(roster, { objective: OBJECTIVE, options });
  const said: Json = { choice: 'try-2', why: 'It has a test.' };
  const board = played(playbook, facts, { turn: ({ task }) => (task === 'choose' ? { output: said } : undefined) });
  return { playbook, roster, board };
}

function objective(commits: Commits, documents: string): Played {
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

function council(commits: Commits): Played {
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

function session(commits: Commits): Played {
  const of = sessionFrom(DIAMOND);
  const roster = castFor(of).map((one) => ({ ...one, commits: one.commits && commits(one.role) }));
  const playbook = createSessionPlaybook(of) as unknown as Playbook<never>;
  return { playbook, roster, board: playSession(of, { roster }).board };
}

function coordinate(): Played {
  const playbook = createCoordinatePlaybook({
    ...{ folder: '/repo/team', shown: 'team', id: 'TC-make-things-2026-02-27', team: 'make-things' },
    ...{ createdAt: '2026-02-27T09:00:00.000Z', kept: [], invalid: [], isThere: false },
    ...{ criteria: [], play: [], playWithout: [] },
  }) as unknown as Playbook<never>;
  const roster = [member('planner', 'planner', { commits: false })];
  const from = {
    ...{ run: 'try', section: undefined, limits: limitsSchema.parse({}), publish: undefined, roles: ['planner'] },
    objective: { criteria: [] },
  };
  const facts = factsOf(roster, { options: playbook.options?.(from) ?? {}, verifies: false });
  return { playbook, roster, board: played(playbook, facts, { turn: () => ({ output: plainJson(teamAnswer()) }) }) };
}

const FLAGS: readonly (readonly [string, Commits])[] = [
  ['all commit', () => true],
  ['none commits', () => false],
  ['builders and members do not commit', (role) => role !== 'builder' && role !== 'member'],
];
/** With the least number of tasks. */
export const RUNS: readonly (readonly [name: string, open: () => Played, tasks: number])[] = FLAGS.flatMap(
  ([flags, commits]): [string, () => Played, number][] => [
    [`delivery, ${flags}`, () => delivery(commits, []), 3],
    [
      `delivery with committer and tester, ${flags}`,
      () => delivery((role) => role === 'committer' || commits(role), ['committer', 'tester']),
      5,
    ],
    [`best-of, ${flags}`, () => bestOf(commits), 4],
    [`objective, ${flags}`, () => objective(commits, 'keep'), 12],
    [`objective without documents, ${flags}`, () => objective(commits, 'drop'), 12],
    [`council, ${flags}`, () => council(commits), 7],
    [`a session, ${flags}`, () => session(commits), 6],
    [`coordinate, ${flags}`, coordinate, 1],
  ],
);
